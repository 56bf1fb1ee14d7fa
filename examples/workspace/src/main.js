import { fibonacci } from './fibonacci.js';

const count = Number(process.argv[2] ?? 10);
// TODO: tell the user when the argument is not a number
console.log(fibonacci(count).join(' '));
