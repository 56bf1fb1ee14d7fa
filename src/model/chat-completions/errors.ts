import { LlmError } from '../types.ts';

const CONTEXT = /context (length|window|size)|maximum context|too many tokens|max(imum)? (input|prompt) (length|tokens)|prompt is too long|exceeds? the (available )?context/i;
const QUOTA = /insufficient[ _](balance|quota|funds)|quota|out of credits?|billing|payment required/i;

/** What a body that came with an error status, or an `error` object inside a stream, says. */
export interface ErrorDetail { readonly message: string; readonly code?: string }

/** Reads the usual shapes: `{error: {message, code|type}}`, `{error: "…"}`, `{message}`, `{detail}`, or plain text. */
export function errorDetail(body: unknown): ErrorDetail {
  if (typeof body === 'string') {
    try {
      return errorDetail(JSON.parse(body) as unknown);
    } catch {
      const plain = body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ').trim();
      return { message: plain.slice(0, 500) };
    }
  }
  if (typeof body !== 'object' || body === null) return { message: '' };
  const record = body as Record<string, unknown>;
  if (typeof record.error === 'object' && record.error !== null) return errorDetail(record.error);
  const message = [record.message, record.error, record.detail].find((value): value is string => typeof value === 'string') ?? '';
  const code = [record.code, record.type].find((value): value is string => typeof value === 'string' && value !== '');
  return { message: message.slice(0, 2000), ...(code === undefined ? {} : { code }) };
}

/** M16.7. */
export function httpErrorCode(status: number, detail: ErrorDetail): string {
  const text = `${detail.code ?? ''} ${detail.message}`;
  if (status === 401 || status === 403) return 'AUTH';
  if (status === 413) return 'INVALID_REQUEST';
  if (status === 402 || (status < 500 && QUOTA.test(text))) return 'QUOTA';
  if (status === 429) return 'RATE_LIMIT';
  if (status === 400) return CONTEXT.test(text) ? 'CONTEXT_WINDOW_EXCEEDED' : 'INVALID_REQUEST';
  if (status >= 500) return 'SERVER';
  return `HTTP_${status}`;
}

/** Nobody means to be asked again later than in a year: what says so is broken. Milliseconds. */
const LONGEST_WAIT = 366 * 24 * 3600 * 1000;

/** Milliseconds a Retry-After header asks for: seconds, an HTTP date, or `retry-after-ms`. */
export function retryAfterMs(headers: Headers, now: number): number | undefined {
  const wait = askedFor(headers, now);
  return wait !== undefined && wait <= LONGEST_WAIT ? wait : undefined;
}

function askedFor(headers: Headers, now: number): number | undefined {
  const exact = Number(headers.get('retry-after-ms') ?? Number.NaN);
  if (Number.isFinite(exact) && exact >= 0) return exact;
  const value = headers.get('retry-after')?.trim();
  if (value === undefined || value === '') return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return seconds >= 0 ? seconds * 1000 : undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Takes a key out of a text that a server sent back. */
export function redact(text: string, key: string | undefined): string {
  return key === undefined || key.length < 4 ? text : text.replaceAll(key, '[key]');
}

/** The failure of a response with an error status. Reads at most 64 KB of its body. */
export async function httpFailure(response: Response, name: string, key: string | undefined): Promise<LlmError> {
  const detail = errorDetail(await bodyStart(response, 65_536));
  const retry = retryAfterMs(response.headers, Date.now());
  const requestId = response.headers.get('x-request-id') ?? response.headers.get('x-ds-trace-id');
  const code = httpErrorCode(response.status, detail);
  const said = redact(detail.message, key);
  return new LlmError(`${name} answered ${response.status}${said === '' ? '' : `: ${said}`}${advice(code)}`, code, {
    status: response.status,
    ...(retry === undefined ? {} : { providerRetryAfterMs: retry }),
    ...(requestId === null ? {} : { requestId }),
  });
}

function advice(code: string): string {
  if (code === 'AUTH') return ' (check the API key)';
  if (code === 'QUOTA') return ' (check the account\'s balance)';
  return '';
}

async function bodyStart(response: Response, limit: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  if (!response.body) return text;
  const reader = response.body.getReader();
  try {
    while (text.length < limit) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    // a body that breaks off still leaves the status to tell
  } finally {
    await reader.cancel().catch(() => undefined);
  }
  return text.slice(0, limit);
}

/** A request that got no response at all, or lost it midway. */
export function transportFailure(thrown: unknown, url: string): LlmError {
  const where = safeOrigin(url);
  const causes: string[] = [];
  for (let at: unknown = thrown; at instanceof Error && causes.length < 4; at = at.cause) {
    const code = (at as { code?: unknown }).code;
    const text = typeof code === 'string' ? code : at.message;
    if (text !== '' && !causes.includes(text)) causes.push(text);
  }
  const refused = causes.includes('ECONNREFUSED') ? ': is the server running?' : '';
  return new LlmError(`cannot reach ${where} (${causes.join(': ') || 'connection failed'})${refused}`, 'TRANSPORT', { cause: thrown });
}

function safeOrigin(url: string): string {
  try {
    return new URL(url).origin;
  } catch {
    return url;
  }
}
