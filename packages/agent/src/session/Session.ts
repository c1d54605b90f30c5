/** The time between a hello and a goodbye, in which the service gives runs to the agent. */
export interface Session {
  readonly id: number
  /** The time for which the service lets a claim wait for runs. */
  readonly waitSeconds: number
  readonly beatMs: number
}
