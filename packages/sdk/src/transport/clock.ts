/** The only function that reads the machine's clock. A client runs where no `Clock` is provided. */
// oxlint-disable-next-line house/no-machine-clock -- see above; tests set it with fake timers
export const now = (): number => Date.now()

/** Waits, or throws the signal's reason as soon as the signal is aborted. */
export const sleep = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const onAbort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort)
      resolve()
    }, ms)
    signal?.addEventListener("abort", onAbort, { once: true })
  })

/**
 * Returns the promise's result, or throws the signal's reason if the signal is aborted first. The
 * work itself is not cancelled.
 */
export const raceWithAbort = <A>(work: Promise<A>, signal: AbortSignal | undefined): Promise<A> => {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    if (signal.aborted) onAbort()
    signal.addEventListener("abort", onAbort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort))
  })
}
