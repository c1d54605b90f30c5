/** What an agent holds of a run: its session and the attempt, which together are the fence. */
export const leaseOf = (session: number, attempt: number): string => `${session}.${attempt}`

/** The attempt, if the lease is of this session. */
export const attemptOf = (lease: string, session: number): number | undefined => {
  const [of, attempt] = form.exec(lease)?.slice(1).map(Number) ?? []
  return of === session ? attempt : undefined
}

const form = /^(\d{1,10})\.(\d{1,9})$/
