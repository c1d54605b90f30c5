import { assert, it } from "@effect/vitest"
import { formatDuration } from "../../../src/notifications/routing/describeEvent.ts"

it.each([
  [0, "0 s"],
  [61_000, "1 min 1 s"],
  [183_600_000, "2 d 3 h"]
])("A duration of %i ms is shown as %s", (ms, text) => assert.strictEqual(formatDuration(ms), text))
