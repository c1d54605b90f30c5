import { executionError } from "@scheduling/domain/executions/ExecutionError"
import { OutgoingCalls } from "../../src/OutgoingCalls.ts"
import { makeConnect } from "../../src/egress/Egress.ts"
import {
  type AddressClass,
  type Cidr,
  classifyAddress,
  isAddressAllowed,
  parseCidr,
  parseCidrs
} from "../../src/egress/EgressRules.ts"
import { callLayer, callRequest, httpTarget, tcpTarget } from "../support/CallTargets.ts"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"

const addresses: ReadonlyArray<readonly [string, AddressClass]> = [
  ["1.1.1.1", "public"],
  ["8.8.8.8", "public"],
  ["9.255.255.255", "public"],
  ["11.0.0.0", "public"],
  ["100.63.255.255", "public"],
  ["100.128.0.0", "public"],
  ["126.255.255.255", "public"],
  ["172.15.255.255", "public"],
  ["172.32.0.0", "public"],
  ["192.167.255.255", "public"],
  ["198.17.255.255", "public"],
  ["223.255.255.255", "public"],
  ["0.0.0.0", "unspecified"],
  ["0.255.255.255", "unspecified"],
  ["10.0.0.0", "private"],
  ["10.255.255.255", "private"],
  ["172.16.0.0", "private"],
  ["172.31.255.255", "private"],
  ["192.168.0.1", "private"],
  ["100.64.0.0", "cgnat"],
  ["100.127.255.255", "cgnat"],
  ["100.100.100.200", "metadata"],
  ["127.0.0.1", "loopback"],
  ["127.255.255.255", "loopback"],
  ["169.254.0.1", "link-local"],
  ["169.254.169.254", "metadata"],
  ["169.254.170.2", "metadata"],
  ["168.63.129.16", "metadata"],
  ["192.0.0.1", "reserved"],
  ["192.0.2.1", "documentation"],
  ["192.88.99.1", "reserved"],
  ["198.18.0.1", "reserved"],
  ["198.19.255.255", "reserved"],
  ["198.51.100.1", "documentation"],
  ["203.0.113.1", "documentation"],
  ["224.0.0.1", "multicast"],
  ["239.255.255.255", "multicast"],
  ["240.0.0.1", "reserved"],
  ["255.255.255.255", "reserved"],
  ["2606:4700:4700::1111", "public"],
  ["2a00:1450:4001:830::200e", "public"],
  ["::", "unspecified"],
  ["::1", "loopback"],
  ["0:0:0:0:0:0:0:1", "loopback"],
  ["::127.0.0.1", "reserved"],
  ["::8.8.8.8", "reserved"],
  ["::ffff:127.0.0.1", "loopback"],
  ["::ffff:7f00:1", "loopback"],
  ["0000:0000:0000:0000:0000:FFFF:0A00:0001", "private"],
  ["::ffff:169.254.169.254", "metadata"],
  ["::ffff:8.8.8.8", "public"],
  ["::ffff:0:127.0.0.1", "reserved"],
  ["64:ff9b::127.0.0.1", "loopback"],
  ["64:ff9b::a9fe:a9fe", "metadata"],
  ["64:ff9b::8.8.8.8", "public"],
  ["64:ff9b:1::8.8.8.8", "private"],
  ["64:ff9b:2::8.8.8.8", "reserved"],
  ["100::1", "reserved"],
  ["100:0:0:1::1", "reserved"],
  ["2001::1", "reserved"],
  ["2001:0:4136:e378:8000:63bf:3fff:fdd2", "reserved"],
  ["2001:20::1", "reserved"],
  ["2001:1ff:ffff::", "reserved"],
  ["2001:200::1", "public"],
  ["2001:db8::1", "documentation"],
  ["2002:7f00:1::", "reserved"],
  ["2002:808:808::1", "reserved"],
  ["3fff::1", "documentation"],
  ["4000::1", "reserved"],
  ["5f00::1", "reserved"],
  ["fc00::1", "private"],
  ["fdff::1", "private"],
  ["fd00:ec2::254", "metadata"],
  ["fe80::1", "link-local"],
  ["fe80::1%eth0", "link-local"],
  ["febf::1", "link-local"],
  ["fec0::1", "private"],
  ["ff02::1", "multicast"],
  ["", "reserved"],
  ["localhost", "reserved"],
  ["010.0.0.1", "reserved"],
  ["1.2.3", "reserved"],
  ["1::2::3", "reserved"]
]

describe("classify", () => {
  it.each(addresses)("says that %s is %s", (ip, expected) => {
    assert.strictEqual(classifyAddress(ip), expected)
  })

  it("allows public addresses and no others", () => {
    for (const [ip, name] of addresses)
      assert.strictEqual(isAddressAllowed(ip, []), name === "public", ip)
  })
})

describe("EGRESS_ALLOW", () => {
  it.each([
    ["10.0.0.0/8", "10.1.2.3", true],
    ["10.0.0.0/8", "192.168.0.1", false],
    ["10.0.0.0/8", "::ffff:10.1.2.3", true],
    ["10.0.0.0/8", "::10.1.2.3", false],
    ["::ffff:10.0.0.0/104", "10.1.2.3", true],
    ["192.168.1.7", "192.168.1.7", true],
    ["192.168.1.7", "192.168.1.8", false],
    ["0.0.0.0/0", "127.0.0.1", true],
    ["0.0.0.0/0", "::1", false],
    ["fd00::/8", "fd12::1", true],
    ["fd00::/8", "fc00::1", false],
    ["::1", "::1", true],
    ["::/0", "::ffff:127.0.0.1", false],
    ["169.254.0.0/16", "169.254.0.1", true],
    ["169.254.0.0/16", "169.254.169.254", false],
    ["0.0.0.0/0", "169.254.169.254", false],
    ["169.254.169.254", "169.254.169.254", true],
    ["10.0.0.0/8, fd00::/8 ,", "fd12::1", true],
    ["", "10.0.0.1", false]
  ])("%j lets a call to %s out: %s", (list, ip, allowed) => {
    assert.strictEqual(isAddressAllowed(ip, Result.getOrThrow(parseCidrs(list))), allowed)
  })

  it.each([
    ["10.0.0.0/33", "from 0 to 32"],
    ["10.0.0.0/-1", "from 0 to 32"],
    ["10.0.0.0/", "from 0 to 32"],
    ["10.0.0.0/8/8", "not an IP address"],
    ["fd00::/129", "from 0 to 128"],
    ["::ffff:10.0.0.0/8", "from 96 to 128"],
    ["10.0.0.1/8", "starts at its first address"],
    ["localhost", "not an IP address"],
    ["fe80::1%eth0", "not an IP address"],
    ["010.0.0.0/8", "not an IP address"],
    ["*", "not an IP address"]
  ])("refuses %s and says why", (text, reason) => {
    const cidr = parseCidr(text)
    assert.isTrue(Result.isFailure(cidr))
    if (Result.isFailure(cidr)) {
      assert.include(cidr.failure, reason)
      assert.include(cidr.failure, text)
    }
  })

  it("reports every mistake in a list", () => {
    const cidrs = parseCidrs("10.0.0.0/8,nonsense,fd00::/200")
    assert.isTrue(Result.isFailure(cidrs) && /nonsense.*fd00/.test(cidrs.failure))
  })
})

describe("a call", () => {
  const hosts = [
    ["127.0.0.1", "address 127.0.0.1 is loopback"],
    ["127.1", "address 127.0.0.1 is loopback"],
    ["127.0.0.1.", "address 127.0.0.1 is loopback"],
    ["2130706433", "address 127.0.0.1 is loopback"],
    ["0x7f000001", "address 127.0.0.1 is loopback"],
    ["0x7f.0.0.1", "address 127.0.0.1 is loopback"],
    ["017700000001", "address 127.0.0.1 is loopback"],
    ["0177.0.0.1", "address 127.0.0.1 is loopback"],
    ["0.0.0.0", "address 0.0.0.0 is unspecified"],
    ["0", "address 0.0.0.0 is unspecified"],
    ["10.0.0.1", "address 10.0.0.1 is private"],
    ["169.254.169.254", "address 169.254.169.254 is metadata"],
    ["[::1]", "address ::1 is loopback"],
    ["[::]", "address :: is unspecified"],
    ["[::ffff:127.0.0.1]", "address ::ffff:7f00:1 is loopback"],
    ["[::ffff:7f00:1]", "address ::ffff:7f00:1 is loopback"],
    ["[64:ff9b::7f00:1]", "address 64:ff9b::7f00:1 is loopback"],
    ["[2002:7f00:1::]", "address 2002:7f00:1:: is reserved"],
    ["[fd00:ec2::254]", "address fd00:ec2::254 is metadata"],
    ["localhost", "host localhost resolves to an address that is loopback"],
    ["localhost.", "host localhost. resolves to an address that is loopback"],
    ["LOCALHOST", "host localhost resolves to an address that is loopback"],
    ["mapped.test", "host mapped.test resolves to an address that is loopback"],
    ["metadata.test", "host metadata.test resolves to an address that is metadata"]
  ] as const

  const names: Readonly<Record<string, ReadonlyArray<string>>> = {
    localhost: ["127.0.0.1", "::1"],
    "localhost.": ["127.0.0.1", "::1"],
    "mapped.test": ["::ffff:127.0.0.1"],
    "metadata.test": ["169.254.169.254"]
  }
  const resolve = async (name: string) => names[name] ?? []

  it.live.each(hosts)("does not reach %s, over http or https", ([host, reason]) =>
    Effect.gen(function* () {
      let connections = 0
      const port = yield* tcpTarget(() => connections++)
      const call = yield* OutgoingCalls
      for (const scheme of ["http", "https"]) {
        const result = yield* call.run(callRequest(`${scheme}://${host}:${port}/`))
        assert.deepInclude(result, {
          status_code: null,
          outcome: "failed",
          error: executionError("address_refused", `${reason} and not allowed`)
        })
      }
      assert.strictEqual(connections, 0)
    }).pipe(Effect.provide(callLayer({ allow: "", resolve })))
  )

  it.live("connects only to those addresses of a name that are allowed", () =>
    Effect.gen(function* () {
      const port = yield* httpTarget((request, response) => {
        response.setHeader("connection", "close").end(request.socket.localAddress)
      }, "0.0.0.0")
      const call = yield* OutgoingCalls
      const result = yield* call.run(callRequest(`http://both.test:${port}/`))
      assert.strictEqual(result.response_body, "127.0.0.1")
    }).pipe(
      Effect.provide(
        callLayer({
          allow: "127.0.0.1",
          resolve: async () => ["127.0.0.2", "10.0.0.1", "127.0.0.1"]
        })
      )
    )
  )

  it.live("is rejected if the name points to a private address at the next attempt", () => {
    const answers = [["127.0.0.1"], ["127.0.0.2"]]
    return Effect.gen(function* () {
      let requests = 0
      const port = yield* httpTarget((_, response) => {
        requests++
        response.writeHead(503, { connection: "close" }).end()
      }, "0.0.0.0")
      const call = yield* OutgoingCalls
      const first = yield* call.run(callRequest(`http://rebind.test:${port}/`))
      const second = yield* call.run(callRequest(`http://rebind.test:${port}/`, { attempt: 2 }))
      assert.deepInclude(first, { status_code: 503, outcome: "retryable" })
      assert.deepInclude(second, { status_code: null, outcome: "failed" })
      assert.strictEqual(requests, 1)
    }).pipe(
      Effect.provide(callLayer({ allow: "127.0.0.1", resolve: async () => answers.shift() ?? [] }))
    )
  })

  it.live("does not follow redirects", () =>
    Effect.gen(function* () {
      const port = yield* httpTarget((_, response) => {
        response.writeHead(302, { location: "http://169.254.169.254/latest/meta-data/" }).end()
      })
      const call = yield* OutgoingCalls
      const result = yield* call.run(callRequest(`http://127.0.0.1:${port}/`))
      assert.deepInclude(result, {
        status_code: 302,
        outcome: "failed",
        error: executionError("http_status", "responded with 302, and redirects are not followed")
      })
    }).pipe(Effect.provide(callLayer()))
  )

  it.live("asks DNS once for a burst of calls to one name", () => {
    let lookups = 0
    return Effect.gen(function* () {
      const port = yield* httpTarget((_, response) => {
        response.end("ok")
      })
      const call = yield* OutgoingCalls
      const results = yield* Effect.all(
        Array.from({ length: 20 }, () => call.run(callRequest(`http://burst.test:${port}/`))),
        { concurrency: "unbounded" }
      )
      assert.isTrue(results.every((result) => result.outcome === "success"))
      assert.strictEqual(lookups, 1)
    }).pipe(
      Effect.provide(
        callLayer({
          resolve: async () => {
            lookups++
            return ["127.0.0.1"]
          }
        })
      )
    )
  })
})

it.live("a socket that reached a rejected address is closed before a byte is written", () =>
  Effect.gen(function* () {
    let bytes = 0
    const port = yield* tcpTarget((socket) => socket.on("data", (chunk) => (bytes += chunk.length)))
    for (const isSecure of [false, true]) {
      // The first check, before the socket connects, allows 127.0.0.1. Later checks do not.
      let reads = 0
      const allow = Object.defineProperty<Array<Cidr>>([], 0, {
        get: () => Result.getOrThrow(parseCidr(reads++ === 0 ? "127.0.0.0/8" : "192.0.2.0/24"))
      })
      const connect = makeConnect({ allow, resolve: async () => [] })
      const error = yield* Effect.callback<Error | null>((resume) => {
        const target = { host: "service.test", hostname: "127.0.0.1", port, isSecure }
        connect(target, (...[failure]) => resume(Effect.succeed(failure)))
      })
      assert.strictEqual(error?.message, "address 127.0.0.1 is loopback and not allowed")
    }
    assert.strictEqual(bytes, 0)
  })
)
