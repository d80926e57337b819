export default async function globalTeardown() {
  await globalThis.__POSTGRES__?.stop();
}
