/** The first `count` Fibonacci numbers. */
export function fibonacci(count) {
  const numbers = [];
  let [a, b] = [0, 1];
  for (let i = 0; i < count; i++) {
    numbers.push(a);
    [a, b] = [b, a + b];
  }
  // TODO: refuse a negative count
  return numbers;
}
