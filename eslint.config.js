import tseslint from 'typescript-eslint';
import house from './eslint-rules/layers.js';

export default tseslint.config(
  { ignores: ['node_modules/', 'dist/', 'out/', 'coverage/', '.vscode-home*/', '.shots/', 'examples/', 'test/fixtures/'] },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.recommended],
    plugins: { house },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrors: 'none', ignoreRestSiblings: true },
      ],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports', disallowTypeAnnotations: false }],
      '@typescript-eslint/no-empty-object-type': ['error', { allowInterfaces: 'with-single-extends' }],
      '@typescript-eslint/no-namespace': 'off',
      '@typescript-eslint/no-this-alias': 'off',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'prefer-const': 'error',
      'no-throw-literal': 'error',
      'no-restricted-syntax': ['error', { selector: "ImportDeclaration[source.value=/^\\.{1,2}\\u002F.*(?<!\\.(ts|tsx|js|mjs|cjs|json|css))$/]", message: 'Write the extension: ./name.ts' }],
    },
  },
  {
    files: ['src/**/*.ts', 'webview/**/*.ts', 'webview/**/*.tsx'],
    rules: {
      'house/layers': 'error',
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
      'no-console': 'error',
    },
  },
  // a command line's output; and what happens before the host's log exists
  { files: ['src/headless/**/*.ts', 'src/extension.ts'], rules: { 'no-console': 'off' } },
  {
    files: ['test/**/*.ts', 'test/**/*.tsx'],
    rules: {
      // `assert.ok(x); x!.y` and chai-like expressions read well in tests
      '@typescript-eslint/no-unused-expressions': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      'no-restricted-properties': [
        'error',
        ...['describe', 'it', 'context', 'specify'].map((object) => ({ object, property: 'only', message: 'Leave no `.only` behind.' })),
      ],
    },
  },
  {
    files: ['**/*.js', '**/*.mjs', '**/*.cjs'],
    extends: [tseslint.configs.recommended],
    rules: { '@typescript-eslint/no-require-imports': 'off', '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', caughtErrors: 'none' }] },
  },
);
