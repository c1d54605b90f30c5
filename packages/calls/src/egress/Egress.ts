import { Context, Data } from "effect"
import type { LookupAddress } from "node:dns"
import {
  connect as connectTcp,
  isIP,
  isIPv6,
  type LookupFunction,
  type OnReadOpts,
  type Socket
} from "node:net"
import { type Cidr, classifyAddress, isAddressAllowed } from "./EgressRules.ts"
import { makeHostNameResolver, type ResolveHostName } from "./HostNames.ts"
import { makeUpgradeToTls } from "../tls/TlsUpgrade.ts"

/** The CIDR ranges of `EGRESS_ALLOW`. Empty by default. */
export const EgressAllow = Context.Reference<ReadonlyArray<Cidr>>("@scheduling/calls/EgressAllow", {
  defaultValue: () => []
})

/** Resolves host names to addresses. Tests replace this reference. */
export const Resolver = Context.Reference<ResolveHostName>("@scheduling/calls/Resolver", {
  defaultValue: () => makeHostNameResolver()
})

/** The error for a target whose address calls may not reach. */
export class EgressRejected extends Data.TaggedError("EgressRejected")<{
  readonly message: string
}> {}

export class ConnectTimeout extends Data.TaggedError("ConnectTimeout")<{
  readonly seconds: number
}> {}

const connectTimeoutSeconds = 10

/**
 * The maximum number of addresses that are tried per host name. A name can have hundreds of
 * addresses, and its owner could use the service as a port scanner.
 */
const maxAddresses = 8

/**
 * How long an address is tried before the next one. Node's default is 250 ms, and it gives up after
 * the last address, so a host with a slow IPv4 route and a dead IPv6 route could never be reached.
 */
const nextAddressAfterMillis = 2_000

/** The target of a connection. */
export interface Target {
  /** The value of the `Host` header. */
  readonly host: string
  /** A host name, or an address without brackets. */
  readonly hostname: string
  readonly port: number
  readonly isSecure: boolean
}

type Connected = (...result: [null, Socket] | [Error, null]) => void

/**
 * The duration of each phase of connecting, in milliseconds. Null for phases that did not happen.
 */
export interface ConnectTimes {
  dns_ms: number | null
  connect_ms: number | null
  tls_ms: number | null
}

/**
 * Opens a connection and calls `callback` once. Returns the socket, so that an interrupted call can
 * destroy it while it is still connecting. `onBytes`, if given, receives the bytes, which are valid
 * only until it returns. `times`, if given, is filled in as the phases end.
 */
export type Connect = (
  target: Target,
  callback: Connected,
  onBytes?: (bytes: Buffer) => void,
  times?: ConnectTimes
) => Socket | undefined

export interface ConnectOptions {
  readonly allow: ReadonlyArray<Cidr>
  readonly resolve: ResolveHostName
  /** If false, no TLS session is resumed. */
  readonly resumes?: boolean
}

/**
 * Creates a connector that checks exactly the address that the socket dials. Addresses of host
 * names are filtered in the socket's own lookup, so no second lookup can return a different result.
 * Literal addresses are checked before the socket is created, because Node does no lookup for them.
 */
export const makeConnect = ({ allow, resolve, resumes = true }: ConnectOptions): Connect => {
  const lookupAllowed = guardedLookup(allow, sharedLookups(resolve))
  const upgradeToTls = makeUpgradeToTls({ resumes })

  return ({ hostname, isSecure, port }, callback, onBytes, times) => {
    const refusal = isIP(hostname) === 0 ? undefined : refuse(hostname, allow)
    if (refusal !== undefined) {
      queueMicrotask(() => callback(refusal, null))
      return undefined
    }
    const socket = connectTcp({
      host: hostname,
      port,
      lookup: lookupAllowed,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: nextAddressAfterMillis,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: 60_000,
      ...(onBytes !== undefined && !isSecure && { onread: sharedReadBuffer(onBytes) })
    })
    const lap = stopwatch()
    if (times !== undefined) socket.once("lookup", () => (times.dns_ms = lap()))
    return whenOpen(socket, "connect", (...[error]) => {
      if (error !== null) return callback(error, null)
      if (times !== undefined) times.connect_ms = lap()
      // The address was checked before. If Node should ever dial a different address, the
      // connection is rejected here, before a byte of the request or of a TLS handshake is written.
      const late = refuse(socket.remoteAddress ?? "", allow)
      if (late !== undefined) {
        socket.destroy()
        callback(late, null)
      } else if (isSecure) {
        const secured = upgradeToTls(socket, hostname)
        if (onBytes !== undefined) secured.on("data", onBytes)
        whenOpen(secured, "secureConnect", (...result) => {
          if (times !== undefined && result[0] === null) times.tls_ms = lap()
          callback(...result)
        })
      } else {
        callback(null, socket)
      }
    })
  }
}

/** Returns a function that returns the milliseconds since its last call. */
const stopwatch = () => {
  let before = performance.now()
  return () => {
    const now = performance.now()
    const passed = now - before
    before = now
    return passed
  }
}

const readBuffer = Buffer.allocUnsafeSlow(64 * 1024)

/** Reads into one shared buffer, because a socket stream allocates 64 KiB for each read. */
const sharedReadBuffer = (onBytes: (bytes: Buffer) => void): OnReadOpts => ({
  buffer: readBuffer,
  callback: (count) => {
    onBytes(readBuffer.subarray(0, count))
    return true
  }
})

const whenOpen = (socket: Socket, event: "connect" | "secureConnect", callback: Connected) => {
  const giveUp = () => socket.destroy(new ConnectTimeout({ seconds: connectTimeoutSeconds }))
  const fail = (error: Error) => callback(error, null)
  return socket
    .setTimeout(connectTimeoutSeconds * 1_000, giveUp)
    .once("error", fail)
    .once(event, () => {
      socket.setTimeout(0).off("timeout", giveUp).off("error", fail)
      callback(null, socket)
    })
}

const refuse = (ip: string, allow: ReadonlyArray<Cidr>): EgressRejected | undefined =>
  isAddressAllowed(ip, allow)
    ? undefined
    : new EgressRejected({ message: `address ${ip} is ${classifyAddress(ip)} and not allowed` })

/**
 * Returns only the addresses that may be dialled. The error does not reveal the address of a
 * private name.
 */
const guardedLookup =
  (allow: ReadonlyArray<Cidr>, resolve: ResolveHostName): LookupFunction =>
  (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const allowed = addresses
          .filter((address) => isAddressAllowed(address, allow))
          .slice(0, maxAddresses)
          .map((address): LookupAddress => ({ address, family: isIPv6(address) ? 6 : 4 }))
        const first = allowed[0]
        if (first === undefined) {
          const kinds = [...new Set(addresses.map(classifyAddress))].join(" and ")
          const message = `host ${hostname} resolves to an address that is ${kinds} and not allowed`
          callback(new EgressRejected({ message }), "")
        } else if (options.all === true) {
          callback(null, allowed)
        } else {
          callback(null, first.address, first.family)
        }
      },
      (error: NodeJS.ErrnoException) => callback(error, "")
    )
  }

/** Shares one lookup between concurrent calls to a host: later lookups join the running one. */
const sharedLookups = (resolve: ResolveHostName): ResolveHostName => {
  const running = new Map<string, Promise<ReadonlyArray<string>>>()
  return (hostname) => {
    const existing = running.get(hostname)
    if (existing !== undefined) return existing
    const started = resolve(hostname).finally(() => running.delete(hostname))
    running.set(hostname, started)
    return started
  }
}
