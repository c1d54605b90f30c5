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
import { type Cidr, classify, isAllowed } from "./EgressRules.ts"
import { makeResolve, type Resolve } from "./HostNames.ts"
import { makeUpgradeToTls } from "../tls/TlsUpgrade.ts"

/** The ranges of `EGRESS_ALLOW`. There are none unless the operator lists some. */
export const EgressAllow = Context.Reference<ReadonlyArray<Cidr>>("@scheduling/calls/EgressAllow", {
  defaultValue: () => []
})

/** Turns host names into addresses. Tests replace it. */
export const Resolver = Context.Reference<Resolve>("@scheduling/calls/Resolver", {
  defaultValue: () => makeResolve()
})

/** The target's address is one that calls may not reach. */
export class EgressRefused extends Data.TaggedError("EgressRefused")<{
  readonly message: string
}> {}

export class ConnectTimeout extends Data.TaggedError("ConnectTimeout")<{
  readonly seconds: number
}> {}

const connectTimeoutSeconds = 10

/**
 * A name may list hundreds of addresses. Trying them all would make us a port scanner for its
 * owner.
 */
const maxAddresses = 8

/**
 * Node by default gives each address 250 ms before it tries the next, and gives up after the last.
 * A host with a slow IPv4 route and a dead IPv6 route would then never be reached.
 */
const nextAddressAfterMillis = 2_000

/** Where a connection leads. */
export interface Target {
  /** As the `Host` header names it. */
  readonly host: string
  /** A name or an address, without brackets. */
  readonly hostname: string
  readonly port: number
  readonly isSecure: boolean
}

type Connected = (...result: [null, Socket] | [Error, null]) => void

/**
 * Opens a connection and calls back once. The socket is returned so that an interrupted call can
 * end it while it is still connecting. If `onBytes` is given, the bytes that arrive go to it and
 * are only valid until it returns.
 */
export type Connect = (
  target: Target,
  callback: Connected,
  onBytes?: (bytes: Buffer) => void
) => Socket | undefined

export interface EgressRules {
  readonly allow: ReadonlyArray<Cidr>
  readonly resolve: Resolve
}

/**
 * A connector that judges the very address that the socket dials. Host names are filtered inside
 * the socket's own look-up, so no second look-up can give a different result. Literal addresses are
 * judged before the socket exists, because Node looks nothing up for them.
 */
export const makeConnect = ({ allow, resolve }: EgressRules): Connect => {
  const lookupAllowed = guardedLookup(allow, sharing(resolve))
  const upgradeToTls = makeUpgradeToTls()

  return ({ hostname, isSecure, port }, callback, onBytes) => {
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
      ...(onBytes !== undefined && !isSecure && { onread: intoOneBuffer(onBytes) })
    })
    return whenOpen(socket, "connect", (...[error]) => {
      if (error !== null) return callback(error, null)
      // Both paths above have judged this address. If Node ever reaches a different one, it is
      // caught here, before a byte of the request or of a TLS handshake is written.
      const late = refuse(socket.remoteAddress ?? "", allow)
      if (late !== undefined) {
        socket.destroy()
        callback(late, null)
      } else if (isSecure) {
        const secured = upgradeToTls(socket, hostname)
        if (onBytes !== undefined) secured.on("data", onBytes)
        whenOpen(secured, "secureConnect", callback)
      } else {
        callback(null, socket)
      }
    })
  }
}

const readBuffer = Buffer.allocUnsafeSlow(64 * 1024)

/** As a stream, a socket would allocate 64 KiB for each read. */
const intoOneBuffer = (onBytes: (bytes: Buffer) => void): OnReadOpts => ({
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

const refuse = (ip: string, allow: ReadonlyArray<Cidr>): EgressRefused | undefined =>
  isAllowed(ip, allow)
    ? undefined
    : new EgressRefused({ message: `address ${ip} is ${classify(ip)} and not allowed` })

/**
 * Passes on the addresses that may be dialled. The error does not tell what a private name resolves
 * to.
 */
const guardedLookup =
  (allow: ReadonlyArray<Cidr>, resolve: Resolve): LookupFunction =>
  (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const allowed = addresses
          .filter((address) => isAllowed(address, allow))
          .slice(0, maxAddresses)
          .map((address): LookupAddress => ({ address, family: isIPv6(address) ? 6 : 4 }))
        const first = allowed[0]
        if (first === undefined) {
          const kinds = [...new Set(addresses.map(classify))].join(" and ")
          const message = `host ${hostname} resolves to an address that is ${kinds} and not allowed`
          callback(new EgressRefused({ message }), "")
        } else if (options.all === true) {
          callback(null, allowed)
        } else {
          callback(null, first.address, first.family)
        }
      },
      (error: NodeJS.ErrnoException) => callback(error, "")
    )
  }

/** A burst of calls to one host asks once: later look-ups join the one that is already running. */
const sharing = (resolve: Resolve): Resolve => {
  const underWay = new Map<string, Promise<ReadonlyArray<string>>>()
  return (hostname) => {
    const existing = underWay.get(hostname)
    if (existing !== undefined) return existing
    const started = resolve(hostname).finally(() => underWay.delete(hostname))
    underWay.set(hostname, started)
    return started
  }
}
