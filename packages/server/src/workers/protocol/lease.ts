/** Formats the lease of a run. The session and the attempt together are the fencing token. */
export const toLease = (session: number, attempt: number): string => `${session}.${attempt}`

/** Returns the attempt of a lease, or undefined if the lease belongs to another session. */
export const attemptInLease = (lease: string, session: number): number | undefined => {
  const [of, attempt] = leasePattern.exec(lease)?.slice(1).map(Number) ?? []
  return of === session ? attempt : undefined
}

const leasePattern = /^(\d{1,10})\.(\d{1,9})$/
