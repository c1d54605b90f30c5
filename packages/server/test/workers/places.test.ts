// @tags processes long
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as http from "node:http"
import { eventually, listening } from "../support/ServerProcess.ts"
import { startFixture, type Fixture, startAgent } from "./agentProcess.ts"

/** Starts a server that can delay its responses. */
const target = Effect.gen(function* () {
  let isHeld = false
  const held: Array<() => void> = []
  const server = yield* Effect.acquireRelease(
    Effect.sync(() =>
      http.createServer((_, response) => {
        if (isHeld) held.push(() => response.end("OK"))
        else response.end("OK")
      })
    ),
    (started) => Effect.sync(() => started.closeAllConnections())
  )
  const port = yield* listening(server)
  return {
    url: `http://127.0.0.1:${port}/`,
    hold: () => {
      isHeld = true
    },
    held,
    release: () => {
      isHeld = false
      for (const answer of held.splice(0)) answer()
    }
  }
})

const agentAt = Effect.fnUntraced(function* (
  fixture: Fixture,
  label: string,
  flags?: ReadonlyArray<string>
) {
  const { body } = yield* Effect.promise(() =>
    fixture.ask("POST", "/workers", { name: `At ${label}`, labels: [label] })
  )
  return yield* startAgent(fixture, body.token, flags)
})

interface Place {
  readonly status: string
  readonly reason: string | null
  readonly checked_at: string | null
}

describe("agents", () => {
  it.live(
    "check targets from their places under their own egress rules, and may be killed meanwhile",
    () =>
      Effect.gen(function* () {
        const fixture = yield* startFixture()
        const site = yield* target
        yield* agentAt(fixture, "fra")
        const killed = yield* agentAt(fixture, "lon")
        yield* agentAt(fixture, "strict", [])
        const created = yield* Effect.promise(() =>
          fixture.ask("POST", "/monitors/http", {
            name: "Site",
            url: site.url,
            timeout_seconds: 5,
            confirm_after: 1,
            body_contains: "OK",
            places: [{ labels: ["fra"] }, { labels: ["lon"] }, { labels: ["strict"] }]
          })
        )
        assert.strictEqual(created.status, 201, JSON.stringify(created.body))
        const monitor = `/monitors/http/${created.body.id}`
        const checked = (what: string, after = "") =>
          eventually(what, async () => {
            const { body } = await fixture.ask("GET", monitor)
            const isChecked = body.place_results.every(
              ({ checked_at }: Place) => checked_at !== null && checked_at > after
            )
            return isChecked && (body.last_check?.at ?? "") > after ? body : undefined
          })
        const first = yield* checked("a check of all places")
        assert.strictEqual(first.status, "up")
        const [fra, lon, strict] = first.place_results
        for (const { last_check, status } of [fra, lon]) {
          assert.strictEqual(status, "up")
          assert.strictEqual(last_check.status_code, 200)
          assert.isAtLeast(last_check.connect_ms, 0)
        }
        assert.deepInclude(strict, {
          status: "down",
          reason:
            "The worker may not connect to this address. Start its agent with --allow and the network of the address."
        })
        assert.isNull(strict.last_check.duration_ms)

        site.hold()
        yield* Effect.promise(() => fixture.ask("PATCH", monitor, { down_when: "any" }))
        yield* eventually("two calls under way", async () => site.held.length === 2 || undefined)
        killed.kill("SIGKILL")
        site.release()
        const second = yield* checked("another check of all places", first.last_check.at)
        assert.strictEqual(second.status, "down")
        assert.match(second.last_check.error.message, /^Failed at 1 of 2 places\. At strict: /)
        assert.deepStrictEqual(
          second.place_results.map(({ reason, status }: Place) => [status, reason]),
          [
            ["up", null],
            ["unknown", "The worker did not respond in time."],
            ["down", strict.reason]
          ]
        )
      }).pipe(Effect.scoped),
    120_000
  )
})
