import { useState } from 'preact/hooks';
import * as l10n from '@vscode/l10n';
import type { CardAsk, Question } from '../../src/protocol.ts';
import { Button } from '../ui/button.tsx';
import { isEnter } from '../ui/keys.ts';
import { useActions } from './context.ts';
import { inPlainSight } from '../ui/plain-sight.ts';

/** May this call run? Nothing here takes the focus by itself, and only its own buttons answer (B9). */
export function ApprovalAsk({ callId, ask }: { callId: string; ask: Extract<CardAsk, { kind: 'approval' }> }) {
  const { post } = useActions();
  const answer = (outcome: 'allow' | 'allow-session' | 'reject') => () => post({ type: 'approve', callId, id: ask.id, outcome });
  return (
    <div class="ask" role="group" aria-label={l10n.t('Approval')}>
      {ask.reason !== undefined && <p class="ask-reason">{inPlainSight(ask.reason)}</p>}
      <div class="ask-buttons">
        <Button primary onClick={answer('allow')}>{l10n.t('Allow Once')}</Button>
        {ask.remember !== undefined && (
          <Button title={l10n.t('Allow for this session: {0}', ask.remember.label)} onClick={answer('allow-session')}>{l10n.t('Allow in This Session')}</Button>
        )}
        <Button onClick={answer('reject')}>{l10n.t('Reject')}</Button>
      </div>
      {ask.remember !== undefined && <p class="ask-scope" title={ask.remember.label}>{l10n.t('In this session: {0}', ask.remember.label)}</p>}
    </div>
  );
}

interface Draft { selected: readonly string[]; custom: string }

/** Questions of the model, answered by mouse or keyboard: choices, and always words of one's own. */
export function QuestionAsk({ callId, questions }: { callId: string; questions: readonly Question[] }) {
  const { post } = useActions();
  const [drafts, setDrafts] = useState<Readonly<Record<string, Draft>>>({});
  const draftOf = (id: string): Draft => drafts[id] ?? { selected: [], custom: '' };
  const change = (id: string, draft: Draft): void => setDrafts({ ...drafts, [id]: draft });
  const complete = questions.every(({ id }) => draftOf(id).selected.length > 0 || draftOf(id).custom.trim() !== '');
  const submit = (): void => {
    if (!complete) return;
    post({
      type: 'answer', callId,
      answers: questions.map(({ id }) => {
        const { selected, custom } = draftOf(id);
        return { id, selected, ...(custom.trim() === '' ? {} : { custom: custom.trim() }) };
      }),
    });
  };
  return (
    <div class="ask" role="group" aria-label={l10n.t('Questions')}>
      {questions.map((question) => (
        <QuestionField key={question.id} name={`${callId}-${question.id}`} question={question} draft={draftOf(question.id)} change={(draft) => change(question.id, draft)} submit={submit} />
      ))}
      <div class="ask-buttons">
        <Button primary disabled={!complete} onClick={submit}>{l10n.t('Answer')}</Button>
        <Button title={l10n.t('The agent is told that you do not answer')} onClick={() => post({ type: 'skip', callId })}>{l10n.t('Skip')}</Button>
      </div>
    </div>
  );
}

function QuestionField({ name, question, draft, change, submit }: {
  name: string; question: Question; draft: Draft; change: (draft: Draft) => void; submit: () => void;
}) {
  const pick = (label: string, on: boolean): void => {
    if (question.multiSelect) change({ ...draft, selected: on ? [...draft.selected, label] : draft.selected.filter((other) => other !== label) });
    else change({ selected: [label], custom: '' });
  };
  const own = question.options.length > 0 ? l10n.t('Another answer') : l10n.t('Your answer');
  return (
    <fieldset class="question">
      <legend>{question.header !== undefined && question.header !== '' && <span class="tag">{question.header}</span>} {question.question}</legend>
      {question.options.map((option) => (
        <label key={option.label} class="choice">
          <input type={question.multiSelect ? 'checkbox' : 'radio'} name={name} checked={draft.selected.includes(option.label)} onChange={(event) => pick(option.label, event.currentTarget.checked)}
            onKeyDown={(event) => {
              if (isEnter(event)) {
                event.preventDefault();
                submit();
              }
            }} />
          <span><span class="choice-label">{option.label}</span>{option.description && <span class="choice-description">{option.description}</span>}</span>
        </label>
      ))}
      <input class="text-input" type="text" value={draft.custom} aria-label={`${own}: ${question.question}`} placeholder={`${own}…`}
        onInput={(event) => change({ selected: question.multiSelect ? draft.selected : [], custom: event.currentTarget.value })}
        onKeyDown={(event) => {
          if (isEnter(event)) submit();
        }} />
    </fieldset>
  );
}
