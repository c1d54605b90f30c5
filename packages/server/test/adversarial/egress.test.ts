// @tags slow
import { type ExecutionError } from "@scheduling/domain/executions/ExecutionError"
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer, Result } from "effect"
import type { IncomingMessage } from "node:http"
import { Resolver } from "@scheduling/calls/egress/Egress"
import { parseCidrs } from "@scheduling/calls/egress/EgressRules"
import { httpTarget } from "@scheduling/calls/testing/CallTargets"
import { ask, type Member, signUp, runConcurrently } from "../support/http.ts"
import { eventually } from "../support/ServerProcess.ts"
import { startNode, TestApp, testConfig } from "../support/TestApp.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"

/**
 * This address represents the public Internet. All of this machine's other addresses represent
 * private networks.
 */
const outside = "127.0.0.1"

/** The answers that the attacker's name server returns, one after another. */
const answers = new Map<string, Array<ReadonlyArray<string>>>()
const lookups = new Map<string, number>()

const resolve = async (asked: string): Promise<ReadonlyArray<string>> => {
  const name = asked.replace(/\.$/, "")
  lookups.set(name, (lookups.get(name) ?? 0) + 1)
  const [next = [], ...later] = answers.get(name) ?? []
  if (later.length > 0) answers.set(name, later)
  return next
}

let names = 0

/** Returns a new name that the name server resolves to these answers. */
const nameFor = (...given: ReadonlyArray<ReadonlyArray<string>>): string => {
  const name = `n${names++}.test`
  answers.set(name, [...given])
  return name
}

interface Arrival {
  readonly address: string
  readonly path: string
}

/**
 * All addresses, including metadata addresses. A node with this setting accepts any task, which
 * shows that the node that makes a call applies its own settings.
 */
const everywhere = "0.0.0.0/0,::/0,169.254.169.254,fd00:ec2::254"

/**
 * A node that makes calls, a node that accepts any task, and a target on all of this machine's
 * addresses.
 */
class Fixture extends Context.Service<
  Fixture,
  {
    readonly member: Member
    readonly port: number
    readonly arrivals: Array<Arrival>
    readonly respond: { with: (path: string) => Reply }
  }
>()("@scheduling/server/test/adversarial/Egress") {
  static readonly layer: Layer.Layer<Fixture | TestApp> = Layer.effect(
    Fixture,
    Effect.gen(function* () {
      const arrivals: Array<Arrival> = []
      const respond = { with: (_path: string): Reply => ({ status: 200 }) }
      const port = yield* httpTarget((request, response) => {
        arrivals.push({ address: addressOf(request), path: request.url ?? "" })
        const { body, headers, status } = respond.with(request.url ?? "")
        response.writeHead(status, { connection: "close", ...headers }).end(body)
      }, "")
      return Fixture.of({ member: yield* signUp(), port, arrivals, respond })
    })
  ).pipe(
    Layer.provideMerge(
      Layer.effect(
        TestApp,
        Effect.gen(function* () {
          const node = (allow: string, runner: "on" | "off") =>
            startNode({
              ...testConfig,
              runner,
              egressAllow: Result.getOrThrow(parseCidrs(allow))
            })
          const otherUrl = yield* node(outside, "on")
          return TestApp.of({ url: yield* node(everywhere, "off"), otherUrl, logs: [] })
        })
      )
    ),
    Layer.provide(Layer.succeed(Resolver, resolve)),
    Layer.provide(TestDatabaseLayer),
    Layer.orDie
  )
}

interface Reply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

const addressOf = ({ socket }: IncomingMessage) =>
  (socket.localAddress ?? "").replace("::ffff:", "")

interface Ended {
  readonly status: string
  readonly error: ExecutionError | null
  readonly attempts_count: number
  readonly step: string | null
}

const kinds = ["cron", "delayed", "chains"] as const
type Kind = (typeof kinds)[number]

type Urls = readonly [string, ...Array<string>]

const due = {
  cron: { name: "a", schedule: "0 0 1 1 *" },
  delayed: { delay_seconds: 0 },
  chains: { name: "a" }
}

const callsOf = (kind: Kind, urls: Urls, call: object = {}) =>
  kind === "chains"
    ? { steps: urls.map((url, index) => ({ name: `s${index}`, url, ...call })) }
    : { url: urls[0], ...call }

const create = Effect.fnUntraced(function* (
  kind: Kind,
  urls: Urls,
  call: object = {},
  fields: object = {}
) {
  const { member } = yield* Fixture
  const created = yield* ask("POST", `${member.workspace}/${kind}`, {
    token: member.access_token,
    body: { ...due[kind], ...fields, ...callsOf(kind, urls, call) }
  })
  assert.strictEqual(created.status, 201, `${urls[0]} ${created.text}`)
  return String(created.body.id)
})

/**
 * Runs a task that calls these URLs. Returns its result, or the result of each step if it is a
 * chain.
 */
const outcomesOf = Effect.fnUntraced(function* (kind: Kind, urls: Urls, call: object = {}) {
  const { member } = yield* Fixture
  const token = member.access_token
  const at = `${member.workspace}/${kind}`
  const [url, ...later] = urls
  const id = yield* create(kind, urls, call)
  if (kind !== "delayed") yield* ask("POST", `${at}/${id}/run`, { token })
  const { url: server } = yield* TestApp
  const list = `${server}${member.workspace}/executions?task_id=${id}`
  return yield* eventually(
    `the end of ${url}`,
    async (): Promise<ReadonlyArray<Ended> | false> => {
      const response = await fetch(list, { headers: { authorization: `Bearer ${token}` } })
      const { data } = (await response.json()) as {
        readonly data: ReadonlyArray<Ended & { readonly finished_at: string | null }>
      }
      const wanted = kind === "chains" ? later.length + 1 : 1
      return (
        data.length >= wanted &&
        data.every(({ finished_at }) => finished_at !== null) &&
        data.toReversed()
      )
    },
    10_000
  )
})

/** All notations of 127.0.0.2, and other private hosts. */
const hosts = [
  "127.0.0.2",
  "127.0.0.2.",
  "2130706434",
  "2130706434.",
  "0x7f000002",
  "0x7f.2",
  "0X7F.0x0.0X2",
  "0177.0.0.2",
  "00000000177.2",
  "017700000002",
  "127.2",
  "127.0.2",
  "127.0.0.0x2",
  "%31%32%37.0.0.2",
  "127%2e0%2e0%2e2",
  "127。0。0。2",
  "１２７.0.0.2",
  "①②⑦.0.0.2",
  "0.0.0.0",
  "0",
  "10.0.0.1",
  "100.64.0.1",
  "169.254.169.254",
  "192.168.0.1",
  "224.0.0.1",
  "255.255.255.255",
  "[::]",
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
  "[::127.0.0.2]",
  "[::ffff:127.0.0.2]",
  "[::ffff:7f00:2]",
  "[::ffff:0:127.0.0.2]",
  "[0:0:0:0:0:FFFF:127.0.0.2]",
  "[64:ff9b::7f00:2]",
  "[64:ff9b::127.0.0.2]",
  "[64:ff9b:1::7f00:2]",
  "[2002:7f00:2::]",
  "[2001::1]",
  "[fc00::1]",
  "[fd00:ec2::254]",
  "[fe80::1]",
  "[fec0::1]",
  "[ff02::1]"
]

/** The addresses that the name server returns. */
const addresses = [
  "127.0.0.2",
  "::1",
  "::",
  "0.0.0.0",
  "::127.0.0.2",
  "::ffff:127.0.0.2",
  "::ffff:7f00:2",
  "64:ff9b::7f00:2",
  "2002:7f00:2::",
  "fc00::1",
  "fe80::1",
  "fe80::1%lo",
  "10.0.0.1",
  "169.254.169.254",
  "0177.0.0.2",
  "127.2",
  "localhost",
  "not an address"
]

layer(Fixture.layer, { excludeTestServices: true })("A call", (it) => {
  const assertNowhere = Effect.fnUntraced(function* (
    kind: Kind,
    urls: ReadonlyArray<string>,
    error = /not allowed$/
  ) {
    const { arrivals } = yield* Fixture
    arrivals.length = 0
    yield* Effect.forEach(
      urls,
      Effect.fnUntraced(function* (url) {
        const [ended] = yield* outcomesOf(kind, [url], { retry_count: 3 })
        assert.deepInclude(ended, { status: "failed", attempts_count: 1 }, url)
        assert.match(ended?.error?.message ?? "", error, url)
      }),
      { concurrency: "unbounded", discard: true }
    )
    assert.deepStrictEqual(arrivals, [])
  })

  describe.each(kinds)("of %s", (kind) => {
    it.effect("to a private host is rejected when it is created, however the host is spelled", () =>
      Effect.gen(function* () {
        const { member } = yield* Fixture
        const token = member.access_token
        const at = `${member.workspace}/${kind}`
        const task = yield* create(
          kind,
          [`http://${outside}/`],
          {},
          kind === "delayed" ? { delay_seconds: 3_600 } : {}
        )
        for (const host of hosts) {
          const calls = callsOf(kind, [`http://${host}:1/`])
          for (const refused of [
            yield* ask("POST", at, { token, body: { ...due[kind], ...calls }, at: "otherUrl" }),
            yield* ask("PATCH", `${at}/${task}`, { token, body: calls, at: "otherUrl" })
          ]) {
            assert.strictEqual(refused.status, 422, `${host} ${refused.text}`)
            const [issue, ...others] = refused.body.detail.issues
            assert.deepStrictEqual(others, [])
            assert.deepStrictEqual(issue.path, kind === "chains" ? ["steps", 0, "url"] : ["url"])
            assert.include(issue.message, "EGRESS_ALLOW")
          }
        }
      })
    )

    it.effect("goes to an allowed host", () =>
      Effect.gen(function* () {
        const { arrivals, port } = yield* Fixture
        arrivals.length = 0
        const allowed = [outside, "0x7f.1", "[::ffff:127.0.0.1]", nameFor([outside])]
        yield* runConcurrently(
          allowed.map(
            Effect.fnUntraced(function* (host, index) {
              const [ended] = yield* outcomesOf(kind, [`http://${host}:${port}/${index}`])
              assert.deepInclude(ended, { status: "succeeded", attempts_count: 1 }, host)
            })
          )
        )
        assert.sameDeepMembers(
          arrivals,
          allowed.map((_, index) => ({ address: outside, path: `/${index}` }))
        )
      })
    )

    it.effect("goes to no private host however it is spelled", () =>
      Effect.flatMap(Fixture, ({ port }) =>
        assertNowhere(
          kind,
          hosts.map((host, index) =>
            index % 4 === 0 ? `https://${host}/` : `http://${host}:${port}/`
          )
        )
      )
    )

    it.effect("goes to no name that stands for a private address, in whatever form", () =>
      Effect.flatMap(Fixture, ({ port }) =>
        assertNowhere(
          kind,
          addresses.flatMap((address) => [
            `http://${nameFor([address])}:${port}/`,
            `http://${nameFor([address, "10.0.0.1"])}.:${port}/`
          ])
        )
      )
    )

    it.effect("goes nowhere for a name without an address", () =>
      Effect.flatMap(Fixture, ({ port }) =>
        assertNowhere(kind, [`http://${nameFor([])}:${port}/`], /./)
      )
    )

    it.effect("connects only to the allowed addresses of a name", () =>
      Effect.gen(function* () {
        const { arrivals, port } = yield* Fixture
        arrivals.length = 0
        const many = [
          ["127.0.0.2", "::1", outside],
          [outside, "127.0.0.2"],
          ["::ffff:127.0.0.2", "fe80::1", "10.0.0.1", outside, "169.254.169.254"]
        ]
        yield* runConcurrently(
          many.map(
            Effect.fnUntraced(function* (given, index) {
              const [ended] = yield* outcomesOf(kind, [`http://${nameFor(given)}:${port}/${index}`])
              assert.strictEqual(ended?.status, "succeeded")
            })
          )
        )
        assert.sameDeepMembers(
          arrivals,
          many.map((_, index) => ({ address: outside, path: `/${index}` }))
        )
      })
    )

    it.effect("is checked by the address of its connection, if the name changes in between", () =>
      Effect.gen(function* () {
        const { arrivals, port } = yield* Fixture
        arrivals.length = 0
        const name = nameFor([outside], ["127.0.0.2"])
        const [first] = yield* outcomesOf(kind, [`http://${name}:${port}/`])
        // Each connection does only one lookup, so it cannot use a different answer.
        assert.strictEqual(lookups.get(name), 1)
        assert.strictEqual(first?.status, "succeeded")
        const [second] = yield* outcomesOf(kind, [`http://${name}:${port}/`])
        assert.strictEqual(lookups.get(name), 2)
        assert.match(second?.error?.message ?? "", /loopback and not allowed$/)
        assert.deepStrictEqual(
          arrivals.map(({ address }) => address),
          [outside]
        )
      })
    )

    it.effect("is checked again when it is retried", () =>
      Effect.gen(function* () {
        const { arrivals, port, respond } = yield* Fixture
        arrivals.length = 0
        respond.with = () => ({ status: 503 })
        const name = nameFor([outside], ["169.254.169.254"])
        const [ended] = yield* outcomesOf(kind, [`http://${name}:${port}/`], { retry_count: 3 })
        respond.with = () => ({ status: 200 })
        assert.deepInclude(ended, { status: "failed", attempts_count: 2 })
        assert.match(ended?.error?.message ?? "", /metadata and not allowed$/)
        assert.lengthOf(arrivals, 1)
      })
    )

    it.effect("follows no redirect", () =>
      Effect.gen(function* () {
        const { arrivals, port, respond } = yield* Fixture
        arrivals.length = 0
        const privately = `http://127.0.0.2:${port}/private`
        respond.with = (path) => ({
          status: Number(path.slice(1)),
          headers: {
            location: privately,
            refresh: `0; url=${privately}`,
            "content-location": privately
          }
        })
        const codes = [300, 301, 302, 303, 305, 307, 308]
        yield* runConcurrently(
          codes.map(
            Effect.fnUntraced(function* (code) {
              const [ended] = yield* outcomesOf(kind, [`http://${outside}:${port}/${code}`])
              assert.deepInclude(ended, { status: "failed", attempts_count: 1 }, String(code))
            })
          )
        )
        respond.with = () => ({ status: 200 })
        assert.sameDeepMembers(
          arrivals,
          codes.map((code) => ({ address: outside, path: `/${code}` }))
        )
      })
    )
  })

  it.effect("of a step goes to no host from a response", () =>
    Effect.gen(function* () {
      const { arrivals, port, respond } = yield* Fixture
      arrivals.length = 0
      const bodies = [
        `@127.0.0.2:${port}/`,
        `//127.0.0.2:${port}/`,
        `\\\\127.0.0.2:${port}\\`,
        `http://127.0.0.2:${port}/`,
        `?#@127.0.0.2`
      ]
      respond.with = (path) => ({ status: 200, body: bodies[Number(path.slice(1))] ?? "" })
      const at = `http://${outside}:${port}/`
      yield* runConcurrently(
        bodies.map(
          Effect.fnUntraced(function* (body, index) {
            const [, second] = yield* outcomesOf("chains", [
              `${at}${index}`,
              `${at}{{ steps.s0.body }}`
            ])
            assert.strictEqual(second?.status, "succeeded", body)
          })
        )
      )
      assert.sameDeepMembers(
        arrivals,
        bodies.flatMap((body, index) =>
          [String(index), encodeURIComponent(body)].map((path) => ({
            address: outside,
            path: `/${path}`
          }))
        )
      )
    })
  )
})
