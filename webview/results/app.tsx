import * as l10n from '@vscode/l10n';
import type { ResultsPage, ResultsToHost } from '../../src/protocol.ts';
import { assertNever } from '../../src/contract/never.ts';
import { Boundary } from '../ui/boundary.tsx';
import type { MarkdownActions } from '../ui/markdown.tsx';
import { ResultList } from './list.tsx';
import { WebFetch, WebSearch } from './web.tsx';

type Post = (message: ResultsToHost) => void;

/** The page the host sent last. A new page starts with nothing folded or filtered. */
export function App({ page, seq, post, actions }: { page: ResultsPage; seq: number; post: Post; actions: MarkdownActions }) {
  return (
    <Boundary subject={page} report={(message) => post({ type: 'error', message })} fallback={() => <pre class="long-text">{JSON.stringify(page, null, 2)}</pre>}>
      <Drawn key={seq} page={page} post={post} actions={actions} />
    </Boundary>
  );
}

function Drawn({ page, post, actions }: { page: ResultsPage; post: Post; actions: MarkdownActions }) {
  switch (page.kind) {
    case 'empty': return <main class="results"><h1 class="visually-hidden">{l10n.t('Results')}</h1><p class="results-none">{l10n.t('Results of searches and web look-ups appear here: choose Open Results on a card in the chat.')}</p></main>;
    case 'matches':
    case 'paths': return <ResultList page={page} post={post} />;
    case 'web-search': return <WebSearch page={page} post={post} actions={actions} />;
    case 'web-fetch': return <WebFetch page={page} post={post} actions={actions} />;
    default: return assertNever(page, 'page');
  }
}
