/** The lease of a run: the session and the attempt, which together are the fence. */
export const leaseOf = (session: number, attempt: number): string => `${session}.${attempt}`

/** The attempt of a lease. Undefined if it belongs to another session. */
export const attemptOf = (lease: string, session: number): number | undefined => {
  const [of, attempt] = form.exec(lease)?.slice(1).map(Number) ?? []
  return of === session ? attempt : undefined
}

const form = /^(\d{1,10})\.(\d{1,9})$/
