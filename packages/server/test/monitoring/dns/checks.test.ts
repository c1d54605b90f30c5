import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { createSocket } from "node:dgram"
import type { AddressInfo } from "node:net"
import { statusAndError, signUp, runConcurrently } from "../../support/http.ts"
import { runningConfig, runningNodeLayer } from "../../support/TestApp.ts"
import { assertTested, type CheckCase, firstCheckOf, monitorClientOf } from "../monitors.ts"

interface Answer {
  /** The response code: 0 for success, 2 for a server failure, 3 for an unknown name. */
  readonly code?: number
  /** The data of the records with the requested type. */
  readonly records?: ReadonlyArray<Buffer>
  readonly afterMs?: number
}

/** Encodes a name as the labels of a DNS message. */
const nameOf = (name: string): Buffer =>
  Buffer.concat([
    ...name.split(".").map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.from([0])
  ])

const addressOf = (ip: string): Buffer => Buffer.from(ip.split(".").map(Number))

const numberOf = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff])

/** Starts a name server whose responses depend on the name's first label. */
const nameServer = (answers: Readonly<Record<string, Answer | null>>) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly port: number; readonly close: () => void }>((resume) => {
      const socket = createSocket("udp4")
      socket.on("message", (query, { address, port }) => {
        const end = query.indexOf(0, 12) + 5
        const label = query.toString("latin1", 13, 13 + (query[12] ?? 0))
        const answer = answers[label]
        if (!answer) return
        const { afterMs = 0, code = 0, records = [] } = answer
        const type = query.subarray(end - 4, end - 2)
        const header = [query.subarray(0, 2), Buffer.from([0x81, 0x80 | code]), numberOf(1)]
        const data = records.flatMap((record) => [
          Buffer.from([0xc0, 12]),
          type,
          Buffer.from([0, 1, 0, 0, 0, 60]),
          numberOf(record.length),
          record
        ])
        const message = Buffer.concat([
          ...header,
          numberOf(records.length),
          Buffer.alloc(4),
          query.subarray(12, end),
          ...data
        ])
        setTimeout(() => socket.send(message, port, address), afterMs)
      })
      socket.bind(0, "127.0.0.1", () => {
        const { port } = socket.address() as AddressInfo
        resume(Effect.succeed({ port, close: () => socket.close() }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

layer(runningNodeLayer(), { excludeTestServices: true })("a check of a DNS monitor", (it) => {
  it.effect("says why the records are not as expected", () =>
    Effect.gen(function* () {
      const ips = ["192.0.2.10", "192.0.2.11"]
      const { port } = yield* nameServer({
        www: { records: ips.map(addressOf) },
        slow: { records: [addressOf("192.0.2.1")], afterMs: 300 },
        silent: null,
        broken: { code: 2 },
        unknown: { code: 3 },
        empty: {},
        many: { records: Array.from({ length: 25 }, (_, last) => addressOf(`192.0.2.${last}`)) },
        mail: { records: [Buffer.concat([numberOf(10), nameOf("MX.Example.com")])] },
        text: { records: [Buffer.from([3, ...Buffer.from("v=1"), 2, ...Buffer.from("ab")])] }
      })
      const monitors = monitorClientOf("dns", yield* signUp(), {
        name: "Records",
        confirm_after: 1,
        resolver: `127.0.0.1:${port}`
      })
      const of = (label: string, input: object = {}) => ({ host: `${label}.example.com`, ...input })
      const cases: ReadonlyArray<CheckCase> = [
        [of("www"), null, /^$/],
        [of("www", { expected_values: [ips[1]] }), null, /^$/],
        [of("www", { expected_values: ips.toReversed(), match: "exactly" }), null, /^$/],
        [of("www", { expected_values: ["192.0.2.9", ips[0]], match: "any" }), null, /^$/],
        [
          of("www", { expected_values: [ips[0], "192.0.2.9"] }),
          "response_rule",
          /^The answer is 192\.0\.2\.10 and 192\.0\.2\.11, and not 192\.0\.2\.10 and 192\.0\.2\.9\.$/
        ],
        [
          of("www", { expected_values: [ips[0]], match: "exactly" }),
          "response_rule",
          /not exactly/
        ],
        [of("www", { expected_values: ["192.0.2.9"], match: "any" }), "response_rule", /and not/],
        [of("slow"), null, /^$/],
        [
          of("silent", { timeout_seconds: 1 }),
          "timeout",
          /^No name server responded within 1 s\.$/
        ],
        [of("broken"), "dns", /failed or refused/],
        [of("unknown"), "dns", /^The domain name does not exist\.$/],
        [of("empty"), "dns", /^The name has no A records\.$/],
        [of("empty", { record_type: "AAAA" }), "dns", /no AAAA records/],
        [of("many", { expected_values: ["192.0.2.24"] }), null, /^$/],
        [of("mail", { record_type: "MX", expected_values: ["10 mx.example.com."] }), null, /^$/],
        [of("text", { record_type: "TXT", expected_values: ["v=1ab"] }), null, /^$/]
      ]
      const checked = yield* runConcurrently(cases.map(([input]) => firstCheckOf(monitors, input)))
      checked.forEach((monitor, index) => {
        const [input, code, message] = cases[index] ?? assert.fail("no case")
        const { error } = monitor.last_check
        assert.strictEqual(error?.code ?? null, code, JSON.stringify([input, error]))
        assert.match(error?.message ?? "", message, JSON.stringify(input))
        assert.strictEqual(monitor.status, code === null ? "up" : "down")
      })
      yield* assertTested(monitors, cases)
      assert.deepStrictEqual(checked[0]?.last_check.values, ips)
      assert.lengthOf(checked.find(({ host }) => host.startsWith("many"))?.last_check.values, 20)
    })
  )

  it.effect("queries no name server in a private network", () =>
    Effect.gen(function* () {
      const monitors = monitorClientOf("dns", yield* signUp(), { name: "Records", host: "a.test" })
      const private_ = yield* monitors.create({ resolver: "10.0.0.53" })
      assert.strictEqual(statusAndError(private_), "422 validation_failed")
      for (const resolver of ["dns.example.com", "1.2.3", "9.9.9.9:0", "[::1", "256.1.1.1"]) {
        assert.strictEqual(
          statusAndError(yield* monitors.create({ resolver })),
          "422 validation_failed"
        )
      }
    })
  )
})

layer(runningNodeLayer({ ...runningConfig, egressAllow: [] }), { excludeTestServices: true })(
  "a node that may call no private network",
  (it) => {
    it.effect("reveals nothing about private names", () =>
      Effect.gen(function* () {
        const monitors = monitorClientOf("dns", yield* signUp(), {
          name: "Records",
          confirm_after: 1
        })
        const hosts = ["db.internal", "printer", "nas.local.", "localhost"]
        const checked = yield* runConcurrently(
          hosts.map((host) => firstCheckOf(monitors, { host }))
        )
        for (const { last_check } of checked) {
          const { at, error, ...measured } = last_check
          assert.isString(at)
          assert.strictEqual(error.code, "address_refused")
          assert.isEmpty(Object.values(measured).filter((value) => value !== null))
        }
        const { body: tested } = yield* monitors.test({ host: "db.internal" })
        assert.deepStrictEqual({ ...tested, at: checked[0]?.last_check.at }, checked[0]?.last_check)
      })
    )
  }
)
