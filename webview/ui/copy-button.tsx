import { useEffect, useState } from 'preact/hooks';
import * as l10n from '@vscode/l10n';
import { IconButton } from './button.tsx';

/** Copies through the host, and says for a moment that it did. */
export function CopyButton({ text, copy, label }: { text: () => string; copy: (text: string) => void; label?: string }) {
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return undefined;
    const timer = setTimeout(() => setDone(false), 1500);
    return () => clearTimeout(timer);
  }, [done]);
  return (
    <IconButton icon={done ? 'check' : 'copy'} label={done ? l10n.t('Copied') : (label ?? l10n.t('Copy'))}
      onClick={() => {
        copy(text());
        setDone(true);
      }} />
  );
}
