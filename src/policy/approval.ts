import { randomUUID } from 'node:crypto';
import { Service, type Context } from '@deepseek-ai/cordis';
import z from '@deepseek-ai/schemastery';
import type { Agent, Session } from '../contract/agent.ts';
import type { CallId } from '../contract/content.ts';
import { HarnessError } from '../contract/error.ts';
import type { ApprovalOutcome, ApprovalPolicy, ApprovalRule } from '../contract/event.ts';
import { scopeTarget } from '../scope/carrier.ts';
import type { ApprovalOffer, ApprovalRequest, ApprovalService } from '../seams/approval.ts';
import { ruleLabel } from './rules.ts';

export interface Config {
  /** `never`: nobody is asked, everything that asks is rejected (G12.2). Default `ask`. */
  readonly policy?: ApprovalPolicy;
}

interface Waiting { readonly session: Session; readonly rule: ApprovalRule | undefined }

const OUTCOMES: readonly string[] = ['allowed-once', 'rejected', 'cancelled', 'unavailable'];

/** `ctx.approval` (G12.2-G12.4): logs what is asked and what was decided, and lets whoever is mounted answer. */
export class Approval extends Service implements ApprovalService {
  static Config: z<Config> = z.object({ policy: z.union(['ask', 'never'] as const).default('ask') });

  private readonly policy: ApprovalPolicy;
  private readonly offers = new Map<CallId, ApprovalOffer>();
  private readonly waiting = new Map<string, Waiting>();

  constructor(ctx: Context, config: Config = {}) {
    super(ctx, 'approval');
    this.policy = config.policy ?? 'ask';
    ctx.on('tools/result', (exec) => void this.offers.delete(exec.callId));
  }

  async request(request: ApprovalRequest): Promise<ApprovalOutcome> {
    const { agent, toolName, callId, reason } = request;
    const { session } = agent;
    if (!hasOpenTurn(session)) throw new HarnessError(`an approval for "${toolName}" was asked for outside a turn`, 'APPROVAL_NO_TURN');
    const id = randomUUID();
    const { rule, why = request.why } = this.taken(callId, reason);
    const remember = rule && { label: ruleLabel(rule) };
    session.append('approval/asked', {
      id, toolName,
      ...(callId === undefined ? {} : { callId }), ...(reason === undefined ? {} : { reason }),
      ...(why === undefined ? {} : { why }), ...(remember ? { remember } : {}),
    });
    this.waiting.set(id, { session, rule });
    try {
      const outcome = await this.decide({ ...request, id, ...(why === undefined ? {} : { why }), ...(remember ? { remember } : {}) });
      session.append('approval/decided', { id, outcome });
      return outcome;
    } finally {
      this.waiting.delete(id);
    }
  }

  offer(callId: CallId, offer: ApprovalOffer): void {
    this.offers.set(callId, offer);
  }

  /** Another policy may have put its own reason in the place of the one that was offered for: the offer is not for that. */
  private taken(callId: CallId | undefined, reason: string | undefined): Partial<ApprovalOffer> {
    const offer = callId === undefined ? undefined : this.offers.get(callId);
    if (callId !== undefined) this.offers.delete(callId);
    return offer !== undefined && offer.reason === reason ? offer : {};
  }

  remember(id: string): boolean {
    const waiting = this.waiting.get(id);
    if (!waiting?.rule) return false;
    waiting.session.append('approval/remembered', { id, rule: waiting.rule });
    return true;
  }

  rules(session: Session): readonly ApprovalRule[] {
    return session.events.flatMap((event) => (event.type === 'approval/remembered' ? [event.data.rule] : []));
  }

  /** What holds for a session now (G12.4). */
  policyOf(session: Session): ApprovalPolicy {
    const last = session.events.findLast((event) => event.type === 'approval/policy');
    return last?.type === 'approval/policy' ? last.data.policy : this.policy;
  }

  /** A live switch; the model is told once (G12.4). */
  setPolicy(agent: Agent, policy: ApprovalPolicy): void {
    if (this.policyOf(agent.session) === policy) return;
    agent.session.append('approval/policy', { policy });
    const text = policy === 'never'
      ? 'Approvals are switched off: every action that would ask the user is rejected.'
      : 'Approvals are switched on: actions that need it ask the user.';
    agent.inject({ content: [{ type: 'text', text }], source: { kind: 'plugin', plugin: 'approval', form: 'notice', summary: text } });
  }

  private async decide(request: ApprovalRequest & { readonly id: string }): Promise<ApprovalOutcome> {
    const { agent, signal } = request;
    if (signal?.aborted) return 'cancelled';
    if (this.policyOf(agent.session) === 'never') return 'rejected';
    let stop: (() => void) | undefined;
    const cancelled = new Promise<ApprovalOutcome>((resolve) => {
      stop = () => resolve('cancelled');
      signal?.addEventListener('abort', stop, { once: true });
    });
    try {
      const answer: unknown = await Promise.race([this.ask(request), cancelled]);
      return typeof answer === 'string' && OUTCOMES.includes(answer) ? answer as ApprovalOutcome : 'unavailable';
    } finally {
      if (stop) signal?.removeEventListener('abort', stop);
    }
  }

  /** A throwing answerer counts as none. */
  private async ask(request: ApprovalRequest & { readonly id: string }): Promise<ApprovalOutcome> {
    try {
      return await this.ctx.waterfall(scopeTarget(this, request.agent), 'approval/request', request, async () => 'unavailable' as const);
    } catch (error) {
      this.ctx.logger('approval').warn('asking for "%s" failed: %s', request.toolName, error);
      return 'unavailable';
    }
  }
}

function hasOpenTurn(session: Session): boolean {
  const last = session.events.findLast((event) => event.type === 'turn/start' || event.type === 'turn/end');
  return last?.type === 'turn/start';
}
