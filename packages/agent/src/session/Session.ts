/** The time between a hello and a goodbye, in which the service gives runs to the agent. */
export interface Session {
  readonly id: number
  /** How long the service keeps a claim waiting for runs. */
  readonly waitSeconds: number
  readonly beatMs: number
}
