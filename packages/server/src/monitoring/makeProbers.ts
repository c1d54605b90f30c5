import { Effect } from "effect"
import { makeProbeHttp } from "./http/probeHttp.ts"

/** What checks the targets of each kind that has some. */
export const makeProbers = Effect.all({ http: makeProbeHttp })
