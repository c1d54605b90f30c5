import { assert, describe, it } from "@effect/vitest"
import { TimeZone } from "@scheduling/domain/schedules/TimeZone"
import { Effect, Schema } from "effect"

const decode = Schema.decodeUnknownEffect(TimeZone)

describe("a time zone", () => {
  const accepted: ReadonlyArray<readonly [name: string, canonical: string]> = [
    ["Europe/Berlin", "Europe/Berlin"],
    ["europe/BERLIN", "Europe/Berlin"],
    ["utc", "UTC"],
    ["Etc/UTC", "Etc/UTC"],
    ["etc/gmt+5", "Etc/GMT+5"],
    ["asia/kolkata", "Asia/Kolkata"],
    ["Asia/Calcutta", "Asia/Calcutta"],
    ["Europe/Kyiv", "Europe/Kyiv"],
    ["america/port-au-prince", "America/Port-au-Prince"],
    ["America/Port_of_Spain", "America/Port_of_Spain"],
    ["america/argentina/buenos_aires", "America/Argentina/Buenos_Aires"],
    ["us/eastern", "US/Eastern"],
    ["gb-eire", "GB-Eire"],
    ["EST5EDT", "EST5EDT"]
  ]
  for (const [name, canonical] of accepted) {
    it.effect(`named ${name} is kept as ${canonical}`, () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* decode(name), canonical)
        assert.strictEqual(yield* decode(canonical), canonical)
      })
    )
  }

  for (const name of ["", "Mars/Phobos", "PST", "IST", "BST", "Z", "UTC+1", "SystemV/PST8", "/"]) {
    it.effect(`named ${JSON.stringify(name)} is rejected`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(decode(name))
        assert.strictEqual(
          error.message,
          `${JSON.stringify(name)} is not an IANA time zone name such as "Europe/Berlin" or "UTC"`
        )
      })
    )
  }

  for (const offset of ["+02:00", "-0330", "\u221202:00"]) {
    it.effect(`given as the offset ${offset} is rejected`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(decode(offset))
        assert.strictEqual(
          error.message,
          `"${offset}" is an offset, not an IANA time zone name such as "Europe/Berlin" or "UTC"`
        )
      })
    )
  }

  it("knows every name that the runtime lists", () => {
    for (const name of Intl.supportedValuesOf("timeZone")) {
      assert.strictEqual(TimeZone.make(name), name)
    }
  })
})
