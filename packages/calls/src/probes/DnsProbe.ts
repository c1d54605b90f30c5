import { type ExecutionError, executionError } from "@scheduling/domain/executions/ExecutionError"
import { type DnsRecordType, parseResolver } from "@scheduling/domain/monitors/dns/DnsMonitor"
import { Clock, Context, Effect, Layer, Result } from "effect"
import { Resolver } from "node:dns/promises"
import { isIPv6 } from "node:net"
import { describeError } from "../describeError.ts"
import { EgressAllow } from "../egress/Egress.ts"
import { isAddressAllowed } from "../egress/EgressRules.ts"

export interface DnsProbeRequest {
  readonly host: string
  readonly record_type: DnsRecordType
  /** The name server to query. If null, the name servers of this machine are queried. */
  readonly resolver: string | null
  readonly timeout_seconds: number
}

export interface DnsProbeAnswer {
  readonly error: ExecutionError | null
  readonly values: ReadonlyArray<string>
  readonly duration_ms: number
  /** True if a name server responded. */
  readonly isAnswered: boolean
}

/**
 * The number of queries to a name server within the timeout. More than one is sent, because packets
 * may be lost.
 */
const queryAttempts = 2

/**
 * Looks up DNS records. The address of the name server must be allowed by the egress rules. The
 * name servers of this machine may know private names, so their responses about private networks
 * are rejected.
 */
export class DnsProbe extends Context.Service<
  DnsProbe,
  { readonly run: (request: DnsProbeRequest) => Effect.Effect<DnsProbeAnswer> }
>()("@scheduling/calls/probes/DnsProbe") {
  static readonly layer: Layer.Layer<DnsProbe> = Layer.effect(
    DnsProbe,
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const allow = yield* EgressAllow
      const mayQuery = ({ host, resolver }: DnsProbeRequest): boolean => {
        if (resolver === null) return allow.length > 0 || !isPrivateName(host)
        const ip = parseResolver(resolver)?.ip
        return ip !== undefined && isAddressAllowed(ip, allow)
      }

      return DnsProbe.of({
        run: Effect.fn("DnsProbe.run")(function* (request) {
          const { host, record_type, resolver, timeout_seconds } = request
          const startedNanos = clock.monotonicTimeNanosUnsafe()
          const answer = (
            found: Result.Result<ReadonlyArray<string>, ExecutionError>,
            isAnswered: boolean
          ): DnsProbeAnswer => ({
            error: Result.isFailure(found) ? found.failure : null,
            values: Result.isSuccess(found) ? found.success : [],
            duration_ms: Math.round(Number(clock.monotonicTimeNanosUnsafe() - startedNanos) / 1e6),
            isAnswered
          })
          const refused = answer(
            Result.fail(executionError("address_refused", "the address is not allowed")),
            true
          )
          if (!mayQuery(request)) return refused
          const dns = new Resolver({
            timeout: Math.ceil((timeout_seconds * 1_000) / queryAttempts),
            tries: queryAttempts
          })
          if (resolver !== null) dns.setServers([serverOf(resolver)])
          const looked = yield* Effect.tryPromise({
            try: () => lookUp(dns, host, record_type),
            catch: (error) => error as NodeJS.ErrnoException
          }).pipe(
            Effect.onInterrupt(() => Effect.sync(() => dns.cancel())),
            Effect.result,
            Effect.timeoutOrElse({
              duration: `${timeout_seconds} seconds`,
              orElse: () => Effect.succeed(Result.fail(tookTooLong))
            })
          )
          if (Result.isFailure(looked)) {
            const { error, isAnswered } = failureOf(looked.failure, request)
            return answer(Result.fail(error), isAnswered)
          }
          const values = looked.success
          const isAddresses = record_type === "A" || record_type === "AAAA"
          return resolver === null &&
            isAddresses &&
            !values.every((ip) => isAddressAllowed(ip, allow))
            ? refused
            : answer(Result.succeed(values), true)
        })
      })
    })
  )
}

const tookTooLong: NodeJS.ErrnoException = Object.assign(new Error(), { code: "ETIMEOUT" })

const failureOf = (
  failure: NodeJS.ErrnoException,
  { record_type, timeout_seconds }: DnsProbeRequest
) => {
  switch (failure.code) {
    case "ENOTFOUND":
      return { error: executionError("dns", "the domain name does not exist"), isAnswered: true }
    case "ENODATA":
      return {
        error: executionError("dns", `the name has no ${record_type} records`),
        isAnswered: true
      }
    case "ESERVFAIL":
    case "EREFUSED":
      return {
        error: executionError("dns", "the name server failed or refused to answer"),
        isAnswered: true
      }
    case "ETIMEOUT":
    case "ECANCELLED":
      return {
        error: executionError("timeout", `no name server responded within ${timeout_seconds} s`),
        isAnswered: false
      }
    default:
      return { error: { ...describeError(failure), code: "dns" as const }, isAnswered: false }
  }
}

const serverOf = (resolver: string): string => {
  const { ip, port } = parseResolver(resolver) ?? { ip: resolver, port: 53 }
  return isIPv6(ip) ? `[${ip}]:${port}` : `${ip}:${port}`
}

/** The suffixes of names that exist only in the network of the operator. */
const privateSuffixes =
  /(?:^|\.)(?:internal|intranet|private|corp|home|lan|local|localhost|localdomain|consul|onion|home\.arpa)\.?$/i

const isPrivateName = (host: string): boolean =>
  privateSuffixes.test(host) || !host.replace(/\.$/, "").includes(".")

const lookUp = async (
  dns: Resolver,
  host: string,
  type: DnsRecordType
): Promise<ReadonlyArray<string>> => {
  switch (type) {
    case "A":
      return dns.resolve4(host)
    case "AAAA":
      return dns.resolve6(host)
    case "CNAME":
      return dns.resolveCname(host)
    case "NS":
      return dns.resolveNs(host)
    case "MX":
      return (await dns.resolveMx(host)).map(({ exchange, priority }) => `${priority} ${exchange}`)
    case "TXT":
      return (await dns.resolveTxt(host)).map((parts) => parts.join(""))
    case "SOA":
      return [String((await dns.resolveSoa(host)).serial)]
    case "SRV":
      return (await dns.resolveSrv(host)).map(
        ({ name, port, priority, weight }) => `${priority} ${weight} ${port} ${name}`
      )
    case "CAA":
      return (await dns.resolveCaa(host)).map(({ critical, ...record }) => {
        const [tag, value] = Object.entries(record).find(([name]) => name !== "type") ?? []
        return `${critical} ${tag} ${value}`
      })
  }
}
