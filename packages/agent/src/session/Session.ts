/** A session lasts from the hello to the goodbye of the agent. The service gives runs to it. */
export interface Session {
  readonly id: number
  /** The time for which the service holds a claim while no run is due. */
  readonly waitSeconds: number
  readonly beatMs: number
}
