/** A session lasts from the agent's hello to its goodbye. The service gives runs to the session. */
export interface Session {
  readonly id: number
  /** How long the service holds a claim while no run is due. */
  readonly waitSeconds: number
  readonly beatMs: number
}
