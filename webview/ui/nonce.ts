/**
 * The toolkit tests for `:focus-visible` with a style element, and takes its nonce from this tag. Without it the page's
 * CSP refuses the element, and every click would draw a focus ring. Imported before the toolkit.
 */
const nonce = document.currentScript?.nonce ?? document.querySelector('script')?.nonce;
if (nonce) {
  const meta = document.createElement('meta');
  meta.setAttribute('property', 'csp-nonce');
  meta.content = nonce;
  document.head.append(meta);
}

export {};
