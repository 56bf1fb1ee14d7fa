import type { ComponentChildren } from 'preact';
import * as l10n from '@vscode/l10n';
import type { ToolItem } from '../../../src/protocol.ts';
import { Card } from '../card.tsx';

interface Asked { readonly id: string; readonly question: string }

/** Questions to the user. While they are asked, the form below has their words; afterwards each stands with its answer. */
export function QuestionCard({ item, asked, foot }: { item: ToolItem; asked: readonly Asked[]; foot: ComponentChildren }) {
  const [only] = asked;
  const several = asked.length > 1;
  const title = item.ask === undefined && !several && only !== undefined ? only.question : several ? l10n.t('{0} questions', asked.length) : l10n.t('Question');
  const answers = item.status === 'completed' ? answersOf(item.resultText) : undefined;
  const form = item.ask !== undefined || item.error !== undefined;
  const list = item.ask === undefined && (several || answers !== undefined) && (
    <dl class="answers">
      {asked.map(({ id, question }) => (
        <div key={id}>
          {several && <dt>{question}</dt>}
          {answers !== undefined && <dd>{answers.get(id) || l10n.t('No answer')}</dd>}
        </div>
      ))}
    </dl>
  );
  return (
    <Card id={item.id} icon="question" title={title} status={item.status} open>
      {(form || list) && <>{list}{form && foot}</>}
    </Card>
  );
}

/** The questions of a call's arguments; undefined when they can't be read: cut, or not what was expected. */
export function questionsOf(input: string | undefined): readonly Asked[] | undefined {
  const { questions } = (parse(input) ?? {}) as { questions?: unknown };
  if (!Array.isArray(questions) || questions.length === 0) return undefined;
  const asked = questions.filter((entry: unknown): entry is Asked => typeof entry === 'object' && entry !== null && typeof (entry as Asked).id === 'string' && typeof (entry as Asked).question === 'string');
  return asked.length === questions.length ? asked : undefined;
}

function answersOf(result: string | undefined): ReadonlyMap<string, string> | undefined {
  const { answers } = (parse(result) ?? {}) as { answers?: unknown };
  if (!Array.isArray(answers)) return undefined;
  return new Map(answers.flatMap((entry: unknown): [string, string][] => {
    const { id, selected, custom } = (entry ?? {}) as { id?: unknown; selected?: unknown; custom?: unknown };
    if (typeof id !== 'string') return [];
    return [[id, [...(Array.isArray(selected) ? selected : []), custom].filter((part): part is string => typeof part === 'string' && part !== '').join(', ')]];
  }));
}

function parse(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}
