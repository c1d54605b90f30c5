// @tags idle
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { createSocket } from "node:dgram"
import { signUp } from "../../support/http.ts"
import { runningNodeLayer } from "../../support/TestApp.ts"
import { eventuallyOf, firstCheckOf, monitorClientOf } from "../monitors.ts"

const port = 20_000 + (process.pid % 10_000)
const sites = Array.from({ length: 6 }, (_, index) => `127.${index + 1}.0.1`)

/** Starts a name server that responds only while `isUp`. */
const nameServer = (ip: string) =>
  Effect.acquireRelease(
    Effect.callback<{ isUp: boolean; readonly close: () => void }>((resume) => {
      const socket = createSocket("udp4")
      const server = { isUp: true, close: () => socket.close() }
      socket.on("message", (query, { address, port: from }) => {
        if (!server.isUp) return
        const end = query.indexOf(0, 12) + 5
        const header = [0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]
        const record = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1]
        const answer = [...query.subarray(0, 2), ...header, ...query.subarray(12, end), ...record]
        socket.send(Buffer.from(answer), from, address)
      })
      socket.bind(port, ip, () => resume(Effect.succeed(server)))
    }),
    ({ close }) => Effect.sync(close)
  )

const warnings: Array<string> = []
const isAboutNetwork = /can no longer reach any target|can reach targets/
const capture = Logger.layer([
  Logger.make(({ message }) => {
    const text = String(message)
    if (isAboutNetwork.test(text)) warnings.push(text)
  })
])

layer(runningNodeLayer().pipe(Layer.provide(capture)), { excludeTestServices: true })(
  "a node that loses its network",
  (it) => {
    it.effect(
      "is reported once and turns no monitor down, except one whose target stays unreachable",
      () =>
        Effect.gen(function* () {
          const servers = yield* Effect.forEach(sites, nameServer)
          const monitors = monitorClientOf("dns", yield* signUp(), {
            name: "Records",
            host: "gone.test",
            interval_seconds: 10,
            timeout_seconds: 1,
            confirm_after: 2
          })
          const ids = yield* Effect.forEach(sites, (ip) =>
            Effect.map(
              firstCheckOf(monitors, { resolver: `${ip}:${port}` }),
              ({ id }) => id as string
            )
          )
          const [first = "", ...others] = ids
          const statusOf = (id: string) => Effect.map(monitors.get(id), ({ body }) => body.status)
          const statuses = (of: ReadonlyArray<string>) =>
            Effect.map(Effect.forEach(of, statusOf), (all) => [...new Set(all)])
          assert.deepStrictEqual(yield* statuses(ids), ["up"])

          for (const server of servers) server.isUp = false
          const saying = (count: number) =>
            eventuallyOf(
              `${count} messages`,
              Effect.sync(() => warnings.length),
              (said) => (said >= count ? said : undefined)
            )
          yield* saying(1)
          assert.deepStrictEqual(yield* statuses(ids), ["up"])

          for (const server of servers.slice(1)) server.isUp = true
          yield* saying(2)
          yield* eventuallyOf("an outage", statusOf(first), (status) =>
            status === "down" ? status : undefined
          )
          assert.deepStrictEqual(yield* statuses(others), ["up"])
          const { body: incidents } = yield* monitors.incidents()
          assert.lengthOf(incidents.data, 1)
          assert.match(
            warnings.join(),
            /^this node can no longer reach any target.*,this node can reach targets of monitors again/
          )
        })
    )
  }
)
