import type { ComponentChildren } from 'preact';
import * as l10n from '@vscode/l10n';
import type { ToolItem } from '../../src/protocol.ts';
import { assertNever } from '../../src/contract/never.ts';
import { memo } from '../ui/memo.ts';
import { Boundary } from '../ui/boundary.tsx';
import { LongText } from '../ui/long-text.tsx';
import { useActions } from './context.ts';
import { Card } from './card.tsx';
import { GenericCard } from './cards/generic.tsx';
import { TerminalCard } from './cards/terminal.tsx';
import { DiffCard } from './cards/diff.tsx';
import { SearchCard } from './cards/search.tsx';
import { QuestionCard, questionsOf } from './cards/question.tsx';
import { ReadCard } from './cards/read.tsx';
import { TodoCard } from './cards/todo.tsx';
import { WebCard } from './cards/web.tsx';
import { ApprovalAsk, QuestionAsk } from './ask.tsx';
import { ErrorText } from './error-text.tsx';

/** The contract gives this tool no card of its own (B10.35), and its arguments are nothing to read. */
const ASK = 'ask_user_question';

/** One tool call. A card that can't be drawn becomes a plain one with the text of the result. */
export const ToolCard = memo(function ToolCard({ item, live }: { item: ToolItem; live: string | undefined }) {
  const { post } = useActions();
  return (
    <Boundary subject={item} report={(message) => post({ type: 'error', message })} fallback={() => <RawCard item={item} />}>
      <Drawn item={item} live={live} />
    </Boundary>
  );
});

function Drawn({ item, live }: { item: ToolItem; live: string | undefined }) {
  const foot = <Foot item={item} />;
  const { view } = item;
  switch (view.card) {
    case 'generic': {
      if (view.todos !== undefined) return <TodoCard item={item} view={view} todos={view.todos} foot={foot} />;
      const asked = item.name === ASK ? questionsOf(view.input) : undefined;
      return asked === undefined ? <GenericCard item={item} view={view} foot={foot} /> : <QuestionCard item={item} asked={asked} foot={foot} />;
    }
    case 'terminal': return <TerminalCard item={item} view={view} live={live} foot={foot} />;
    case 'diff': return <DiffCard item={item} view={view} foot={foot} />;
    case 'search': return <SearchCard item={item} view={view} foot={foot} />;
    case 'read': return <ReadCard item={item} view={view} foot={foot} />;
    case 'web': return <WebCard item={item} view={view} foot={foot} />;
    default: return assertNever(view, 'card');
  }
}

/** What every card ends with: the error, and what the user is asked. */
function Foot({ item }: { item: ToolItem }): ComponentChildren {
  const { ask } = item;
  return (
    <>
      <ErrorText item={item} />
      {ask?.kind === 'approval' && <ApprovalAsk callId={item.id} ask={ask} />}
      {ask?.kind === 'question' && <QuestionAsk callId={item.id} questions={ask.questions} />}
    </>
  );
}

function RawCard({ item }: { item: ToolItem }) {
  const text = item.resultText ?? item.error ?? safeJson(item.view);
  return (
    <Card id={item.id} icon="tools" title={item.name} status={item.status} open={false}>
      <LongText text={text} lines={12} label={l10n.t('Result')} />
      <Foot item={item} />
    </Card>
  );
}

function safeJson(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2) ?? '';
  } catch {
    return String(value);
  }
}
