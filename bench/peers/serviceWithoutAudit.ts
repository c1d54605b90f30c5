import { Effect, Layer } from "effect"
import { ChangeLog } from "../../packages/server/src/accounts/audit/ChangeLog.ts"

/** Starts this service without writing audit events for new records. */
const withoutCreations = Effect.map(ChangeLog, (changeLog) => ({
  ...changeLog,
  recordBy: ((_change, write) => write(undefined)) satisfies typeof changeLog.recordBy
}))

Object.assign(ChangeLog, {
  layer: Layer.provide(Layer.effect(ChangeLog, withoutCreations), ChangeLog.layer)
})

await import("../../packages/server/src/main.ts")
