import { parentPort } from 'node:worker_threads';
import { htmlToMarkdown } from './markdown.ts';

parentPort!.on('message', ({ html, url }: { html: string; url: string }) => parentPort!.postMessage(htmlToMarkdown(html, url)));
