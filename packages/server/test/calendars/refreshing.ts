import { callLayer } from "@scheduling/calls/testing/CallTargets"
import { DateTime, Layer } from "effect"
import { CalendarReader } from "../../src/calendars/CalendarReader.ts"
import { Calendars } from "../../src/calendars/Calendars.ts"
import { CalendarsRepo } from "../../src/calendars/CalendarsRepo.ts"
import { Outbox } from "../../src/outbox/Outbox.ts"
import { Ids } from "../../src/platform/Ids.ts"
import { StoreClock } from "../../src/sql/StoreClock.ts"
import { limitsLayer, QueueLayer } from "../runner/support/engine.ts"

export const allow = "127.0.0.0/8"

/** What reads calendars once a day, on the clock of the test. */
export const Refreshing = Calendars.layer.pipe(
  Layer.provideMerge(Layer.merge(CalendarReader.layer, CalendarsRepo.layer)),
  Layer.provide([
    callLayer({ allow }),
    Ids.layer,
    limitsLayer,
    Outbox.layer.pipe(Layer.provide(QueueLayer)),
    QueueLayer
  ]),
  Layer.provide(Layer.succeed(StoreClock, () => DateTime.nowAsDate))
)
