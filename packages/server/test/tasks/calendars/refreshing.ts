import { callLayer } from "@scheduling/calls/testing/CallTargets"
import { DateTime, Layer } from "effect"
import { CalendarReader } from "../../../src/tasks/calendars/CalendarReader.ts"
import { Calendars } from "../../../src/tasks/calendars/Calendars.ts"
import { CalendarsRepo } from "../../../src/tasks/calendars/CalendarsRepo.ts"
import { Outbox } from "../../../src/events/Outbox.ts"
import { Ids } from "../../../src/core/Ids.ts"
import { StoreClock } from "../../../src/store/StoreClock.ts"
import { limitsLayer, RunQueueLayer } from "../../engine/runner/support/engine.ts"

export const allowedRange = "127.0.0.0/8"

/** Reads calendars once a day, on the test's clock. */
export const RefreshingCalendarsLayer = Calendars.layer.pipe(
  Layer.provideMerge(Layer.merge(CalendarReader.layer, CalendarsRepo.layer)),
  Layer.provide([
    callLayer({ allow: allowedRange }),
    Ids.layer,
    limitsLayer,
    Outbox.layer.pipe(Layer.provide(RunQueueLayer)),
    RunQueueLayer
  ]),
  Layer.provide(Layer.succeed(StoreClock, () => DateTime.nowAsDate))
)
