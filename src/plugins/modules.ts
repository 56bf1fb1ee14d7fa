import * as cordis from '@deepseek-ai/cordis';
import * as schemastery from '@deepseek-ai/schemastery';
import * as systemPrompt from '../prompt/dsh-system-prompt.ts';
import * as llm from '../registry/dsh-llm.ts';
import * as tools from '../registry/dsh-tools.ts';
import * as scope from '../scope/dsh-scope.ts';
import * as session from '../session/dsh-session.ts';

/**
 * The modules a plugin gets as the host's own instances, whatever it is written in and wherever it lies (X13.8): class
 * identity decides whether an error keeps its code (P4.36) and whether a service is found.
 */
export function lentModules(extra: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    'cordis': cordis,
    '@deepseek-ai/cordis': cordis,
    'schemastery': schemastery,
    '@deepseek-ai/schemastery': schemastery,
    '@deepseek-ai/dsh-tools': tools,
    '@deepseek-ai/dsh-llm': llm,
    '@deepseek-ai/dsh-scope': scope,
    '@deepseek-ai/dsh-session': session,
    '@deepseek-ai/dsh-system-prompt': systemPrompt,
    ...extra,
  };
}
