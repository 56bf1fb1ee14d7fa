// node guard.mjs COMMAND ARGS…: runs a command in our own process group and ends the group when stdin closes, so that
// nothing outlives the process that started us, however that one ends.
import { spawn } from 'node:child_process';

const [command = '', ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
child.on('error', (error) => {
  console.error(error.message);
  process.exit(127);
});
child.on('exit', (code) => process.exit(code ?? 1));
process.on('SIGTERM', () => undefined); // the child has it too; we leave after it
process.stdin.on('close', () => {
  process.kill(-process.pid, 'SIGTERM');
  setTimeout(() => process.kill(-process.pid, 'SIGKILL'), 3000);
});
process.stdin.resume();
