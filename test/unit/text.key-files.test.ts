import assert from 'node:assert/strict';
import picomatch from 'picomatch';
import { isKeyFile, KEY_NAME_GLOBS, meansKeyFiles } from '../../src/text/key-files.ts';

describe('L1 files that hold keys, by name', () => {
  const keys = [
    '.env', '.env.local', '.env.production', '/x/.ENV', '.env-ci', '.env_stage', 'prod.env', '.envrc', '.dev.vars', 'id_rsa', 'id_ed25519_sk', 'id_ecdsa_sk', 'server.pem', 'SERVER.KEY', 'x.ppk', 'a.p12',
    '.netrc', '.npmrc', '.pypirc', '.git-credentials', '.htpasswd', 'terraform.tfstate', 'a/terraform.tfstate.backup', '.aws/credentials', 'x/.aws', '.aws/sso/cache/x.json', '.docker/config.json', '/home/u/.kube/config',
    'C:\\Users\\u\\.aws\\credentials', '.config/gh/hosts.yml', '.gnupg/pubring.kbx', 'a/.azure/x',
  ];
  const others = [
    '.env.example', '.env.local.sample', '.env.template', '.dev.vars.example', 'env.ts', '.environment', 'a.envelope', 'id_rsa.pub', 'key.ts', 'monkey', 'pem', '.docker/Dockerfile', 'docker/config.json', '.awsome/x', 'config.json', 'tfstate.md', 'src/a.ts',
  ];

  it('the names', () => {
    for (const name of keys) assert.equal(isKeyFile(name), true, name);
    for (const name of others) assert.equal(isKeyFile(name), false, name);
  });

  it('the globs for a search take in every one that is told by its name', () => {
    for (const name of keys.map((file) => file.split(/[\\/]/).at(-1)!).filter((name) => name !== '.aws' && isKeyFile(name))) {
      assert.ok(KEY_NAME_GLOBS.some((glob) => picomatch.isMatch(name, glob, { dot: true })), name);
    }
  });

  it('patterns that mean them', () => {
    for (const glob of ['*', '**', '*.*', '.*', '.env*', '[.]env', '*.pem', '*.KEY', '*.{ts,pem}', '{*.ts,.env.qa7}', '.env.staging', 'certs/*.pem', '*key*', 'id_*', '*.tfstate', '.aws/*', '*rc']) assert.equal(meansKeyFiles(glob), true, glob);
    for (const glob of ['*.ts', '*.{ts,js}', 'src/**', '**/*.json', 'server*', 'config*', '*.example', 'README*']) assert.equal(meansKeyFiles(glob), false, glob);
  });
});
