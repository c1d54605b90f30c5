import type { IncidentCause } from "@scheduling/domain/incidents/Incident"

// Why a heartbeat monitor goes down, in a sentence for whoever is woken up by it.

export const noPingBy = (due: number): IncidentCause => ({
  code: "missed",
  message: `No ping came by ${new Date(due).toISOString()}.`
})

export const ranLongerThan = (seconds: number | null): IncidentCause => ({
  code: "overran",
  message: `A run takes longer than ${seconds} s.`
})

export const failedWith = (exitStatus: number | null): IncidentCause => ({
  code: "failed",
  message:
    exitStatus === null
      ? "The job said that it failed."
      : `The job ended with exit status ${exitStatus}.`
})

export const beganSoonerThan = (seconds: number, ms: number): IncidentCause => ({
  code: "too_soon",
  message: `A run began ${Math.floor(ms / 1000)} s after the previous one; the minimum is ${seconds} s.`
})
