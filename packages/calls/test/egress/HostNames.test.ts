// @tags idle
import { makeHostNameResolver, parseHosts, parseSearchDomains } from "../../src/egress/HostNames.ts"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createSocket } from "node:dgram"
import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

const typeA = 1
const nameError = 3

/**
 * Returns the response for a name: an address, "unknown" if the name does not exist, or "silence"
 * for no response.
 */
type Zone = (name: string) => string | "unknown" | "silence"

/** Returns the name in a query, and the offset at which the query ends. */
const questionIn = (query: Buffer): { readonly name: string; readonly end: number } => {
  const labels: Array<string> = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join("."), end: at + 5 }
}

const answerTo = (query: Buffer, address: string): Buffer => {
  const { end } = questionIn(query)
  const isForA = query.readUInt16BE(end - 4) === typeA
  const header = Buffer.from(query.subarray(0, 12))
  header.writeUInt16BE(address === "unknown" ? 0x8180 | nameError : 0x8180, 2)
  header.writeUInt16BE(isForA && address !== "unknown" ? 1 : 0, 6)
  header.fill(0, 8)
  const record = Buffer.from([
    0xc0,
    12,
    0,
    typeA,
    0,
    1,
    0,
    0,
    0,
    60,
    0,
    4,
    ...address.split(".").map(Number)
  ])
  return Buffer.concat([header, query.subarray(12, end), ...(header[7] === 1 ? [record] : [])])
}

/** Starts a name server on loopback that records its queries. */
const nameServer = (zone: Zone) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const asked: Array<string> = []
      const socket = createSocket("udp4").on("message", (query, { address, port }) => {
        const { name } = questionIn(query)
        asked.push(name)
        const answer = zone(name)
        if (answer !== "silence") socket.send(answerTo(query, answer), port, address)
      })
      socket.bind(0, "127.0.0.1")
      await once(socket, "listening")
      return { asked, socket, server: `127.0.0.1:${socket.address().port}` }
    }),
    ({ socket }) => Effect.sync(() => socket.close())
  )

const filesWith = (hosts: string, resolvConf: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const folder = await mkdtemp(join(tmpdir(), "host-names-"))
      const files = { hostsFile: join(folder, "hosts"), resolvConf: join(folder, "resolv.conf") }
      await writeFile(files.hostsFile, hosts)
      await writeFile(files.resolvConf, resolvConf)
      return { folder, ...files }
    }),
    ({ folder }) => Effect.promise(() => rm(folder, { recursive: true }))
  )

const resolverOn = Effect.fnUntraced(function* (options: {
  readonly zone: Zone
  readonly lookup?: (hostname: string) => Promise<ReadonlyArray<string>>
  readonly hosts?: string
  readonly resolvConf?: string
}) {
  const { asked, server } = yield* nameServer(options.zone)
  const files = yield* filesWith(options.hosts ?? "", options.resolvConf ?? "")
  const lookedUp: Array<string> = []
  const resolve = makeHostNameResolver({
    ...files,
    filesTtlMs: 0,
    servers: [server],
    lookup: async (hostname) => {
      lookedUp.push(hostname)
      return options.lookup?.(hostname) ?? ["192.0.2.9"]
    }
  })
  return { asked, lookedUp, resolve }
})

const codeOf = (failed: Promise<unknown>): Promise<unknown> =>
  failed.then(
    (addresses) => addresses,
    (error) => error.code
  )

describe("a name with a dot", () => {
  it.live(
    "never uses a thread of the system, whether DNS knows it, does not know it or is silent",
    () =>
      Effect.gen(function* () {
        const zone = (name: string) =>
          name === "api.example.com" ? "192.0.2.1" : name === "silent.test" ? "silence" : "unknown"
        const { lookedUp, resolve } = yield* resolverOn({ zone })
        assert.deepEqual(yield* Effect.promise(() => resolve("api.example.com")), ["192.0.2.1"])
        assert.strictEqual(yield* Effect.promise(() => codeOf(resolve("gone.test"))), "ENOTFOUND")
        assert.strictEqual(yield* Effect.promise(() => codeOf(resolve("silent.test"))), "ETIMEOUT")
        assert.deepEqual(lookedUp, [])
      })
  )

  it.live("is looked up first in the hosts file, in its current version", () =>
    Effect.gen(function* () {
      const hosts = "# comment\n192.0.2.7\tdb.internal  alias.internal\n::1 db.internal\n"
      const { asked, resolve } = yield* resolverOn({ zone: () => "unknown", hosts })
      assert.deepEqual(yield* Effect.promise(() => resolve("DB.internal.")), ["192.0.2.7", "::1"])
      assert.deepEqual(yield* Effect.promise(() => resolve("alias.internal")), ["192.0.2.7"])
      assert.deepEqual(asked, [])
    })
  )

  it.live("is looked up in the search domains if it is unknown and does not end with a dot", () =>
    Effect.gen(function* () {
      const { asked, resolve } = yield* resolverOn({
        zone: (name) => (name === "web.jobs.svc.cluster.local" ? "192.0.2.3" : "unknown"),
        resolvConf: "nameserver 192.0.2.53\nsearch jobs.svc.cluster.local svc.cluster.local.\n"
      })
      assert.deepEqual(yield* Effect.promise(() => resolve("web.jobs")), ["192.0.2.3"])
      asked.length = 0
      assert.strictEqual(yield* Effect.promise(() => codeOf(resolve("web.jobs."))), "ENOTFOUND")
      assert.deepEqual([...new Set(asked)], ["web.jobs"])
    })
  )
})

describe("a name without a dot", () => {
  it.live("uses at most one thread, and is rejected when the queue is long", () =>
    Effect.gen(function* () {
      const release: Array<() => void> = []
      const { lookedUp, resolve } = yield* resolverOn({
        zone: () => "unknown",
        lookup: (hostname) =>
          new Promise((done) => release.push(() => done([`192.0.2.${hostname.length}`])))
      })
      const first = resolve("a")
      const others = Array.from({ length: 99 }, (_, index) => resolve(`host${index}`))
      assert.strictEqual(yield* Effect.promise(() => codeOf(resolve("late"))), "EAI_AGAIN")
      assert.deepEqual(lookedUp, ["a"])
      release[0]?.()
      assert.deepEqual(yield* Effect.promise(() => first), ["192.0.2.1"])
      for (let next = 1; next <= others.length; next++) {
        yield* Effect.yieldNow.pipe(Effect.repeat({ until: () => lookedUp.length > next }))
        assert.lengthOf(lookedUp, next + 1)
        release[next]?.()
      }
      yield* Effect.promise(() => Promise.all(others))
    })
  )
})

it("parses files as they occur on real machines", () => {
  assert.deepEqual(
    [...parseHosts("127.0.0.1 localhost\n\n  ::1   localhost ip6-localhost # both\n")],
    [
      ["localhost", ["127.0.0.1", "::1"]],
      ["ip6-localhost", ["::1"]]
    ]
  )
  assert.deepEqual(parseSearchDomains("domain first.test\n; no\nsearch a.test  b.test.\n"), [
    "a.test",
    "b.test"
  ])
  assert.deepEqual(parseSearchDomains("nameserver 192.0.2.1\n"), [])
})
