export interface ClauseSection { readonly section: string; readonly clauses: Readonly<Record<string, string>> }
export function titlesOf(source: string, name?: string): string[];
export function clausesIn(title: string): Set<string>;
export function coverage(sections: readonly ClauseSection[], files: readonly { readonly name: string; readonly source: string }[]): { page: string; empty: string[] };
export function resultsPage(sections: readonly ClauseSection[], tests: readonly { readonly title: string; readonly state: string; readonly file: string }[]): string;
