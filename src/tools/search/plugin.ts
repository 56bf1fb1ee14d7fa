import type { Context } from '@deepseek-ai/cordis';
import type { ToolDefinition, ToolExecution } from '../../contract/tool.ts';
import type { Stored } from './text.ts';
import '../../prompt/system-prompt.ts';
import '../../registry/events.ts';
import '../../seams/search.ts';
import '../../seams/spill.ts';
import { globTool } from './glob.ts';
import { grepTool } from './grep.ts';
import { SHOWN_MATCHES, SHOWN_PATHS, fullGrepText, renderGlob, renderGrep, shownPaths } from './text.ts';
import type { GrepMatch } from './text.ts';

export interface Config {
  /** Whether a capped glob shows a sample over all top-level entries instead of the first hundred (B10.26). */
  readonly sampleOverCapGlobResults: boolean;
  /** Bytes of card data that are logged at most; default 100,000 (B10.28). */
  readonly searchMetaMaxBytes?: number;
}

export const name = 'tool-fs-search';
export const inject = ['tools', 'systemPrompt', 'ripgrep'];

/** Registers grep and glob (B10.24-B10.28). */
export function apply(ctx: Context, config: Config): void {
  if (typeof config?.sampleOverCapGlobResults !== 'boolean') throw new TypeError('tool-fs-search: sampleOverCapGlobResults must be true or false');
  const options = { ripgrep: ctx.ripgrep, metaMaxBytes: config.searchMetaMaxBytes ?? 100_000 };
  const sample = config.sampleOverCapGlobResults;
  const grep = grepTool(options);
  const glob = globTool({ ...options, sample });
  ctx.tools.register(grep);
  ctx.tools.register(glob);

  async function store(exec: ToolExecution, content: () => string): Promise<Stored | undefined> {
    const spill = ctx.get('spillStore');
    if (spill === undefined || exec.agent === undefined) return undefined;
    try {
      return await spill.saveText({
        owner: { sessionId: exec.agent.session.id }, source: { toolName: exec.name, callId: exec.callId, label: 'result' },
        suggestedName: `${exec.name}.txt`, content: content(),
      });
    } catch (error) {
      // the search itself is fine: its text then says that the rest was not kept
      ctx.logger.warn('cannot keep the complete %s result: %s', exec.name, error);
      return undefined;
    }
  }

  async function fullText(definition: ToolDefinition, exec: ToolExecution, value: unknown): Promise<string | undefined> {
    if (definition === grep) {
      const { matches } = value as { matches: GrepMatch[] };
      if (matches.length <= SHOWN_MATCHES) return undefined;
      const stored = await store(exec, () => fullGrepText(matches));
      return stored && renderGrep(matches, { stored });
    }
    const { paths } = value as { paths: string[] };
    if (paths.length <= SHOWN_PATHS) return undefined;
    const stored = await store(exec, () => `${paths.join('\n')}\n`);
    return stored && renderGlob(shownPaths(paths, sample), paths.length, stored);
  }

  ctx.on('tools/post-execute', async (exec, result, next) => {
    const decision = await next();
    const definition = exec.name === grep.name ? grep : exec.name === glob.name ? glob : undefined;
    if (definition === undefined || exec.parent !== undefined || result.isError) return decision;
    if (decision.kind !== 'accept' || 'content' in decision || 'value' in decision) return decision;
    if (ctx.tools.get(exec.name, exec.agent) !== definition) return decision;
    const text = await fullText(definition, exec, result.value);
    return text === undefined ? decision : { ...decision, content: [{ type: 'text', text }] };
  });
  ctx.systemPrompt.section({ name: 'tools:glob', order: 103, text: 'Use `glob` to find files by name or place, rather than `find` or `ls` in a shell.' });
  ctx.systemPrompt.section({
    name: 'tools:grep', order: 104,
    text: 'Use `grep` to find text in files, rather than `grep` or `rg` in a shell: the user sees its matches as a list to click. A capped result says where all of it is.',
  });
}
