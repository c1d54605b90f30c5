import { type Brand, Context, Effect, Redacted, Schema, type SchemaAST } from "effect"
import type { HttpClientError } from "effect/http"
import {
  HttpApi,
  type HttpApiClient,
  type HttpApiEndpoint,
  type HttpApiGroup,
  type HttpApiMiddleware
} from "effect/http-api"

/**
 * An API client whose methods accept the input as it is sent: strings for ids, schedules and time
 * zones, in any form that the service accepts. `HttpApiClient` requires decoded input, which is
 * branded and normalized.
 */
export type WireClient<Api extends HttpApi.Constraint> =
  Api extends HttpApi.HttpApi<string, infer Groups>
    ? {
        readonly [Group in Groups as HttpApiGroup.Identifier<Group>]: {
          readonly [
            Name in keyof Group["endpoints"]
          ]: Group["endpoints"][Name] extends infer Endpoint extends
            HttpApiEndpoint.ConstraintRequest
            ? Method<Endpoint>
            : never
        }
      }
    : never

type Mode = HttpApiClient.Client.ResponseMode

/** The method of one endpoint. It differs from the method in `HttpApiClient` only in its input. */
export type Method<Endpoint extends HttpApiEndpoint.ConstraintRequest> = <
  M extends Mode = "decoded-only"
>(
  ...request: Arguments<Parts<Endpoint> & { readonly responseMode?: M }>
) => Effect.Effect<
  HttpApiClient.Client.Response<HttpApiClient.SuccessType<Endpoint["~Success"]>, M>,
  | HttpApiMiddleware.Error<Endpoint["~Middleware"]>
  | HttpApiMiddleware.ClientError<Endpoint["~Middleware"]>
  | HttpClientError.HttpClientError
  | Schema.SchemaError
  | ([M] extends ["response-only"] ? never : Endpoint["~Error"]["Type"])
>

type Arguments<Request> = {} extends Request ? [request?: Request] : [request: Request]

type Parts<Endpoint extends HttpApiEndpoint.ConstraintRequest> = Part<
  "params",
  Endpoint["~Params"]["Type"]
> &
  Part<"query", Endpoint["~Query"]["Type"]> &
  Part<"headers", Endpoint["~Headers"]["Type"]> &
  Part<"payload", Endpoint["~Payload"]["Type"]>

/** A part of a request, such as its query. The part is optional if all its fields are optional. */
type Part<Name extends string, Value> = [Value] extends [never]
  ? {}
  : {} extends Value
    ? { readonly [_ in Name]?: Plain<Value> }
    : { readonly [_ in Name]: Plain<Value> }

/** Removes brands from a type at any depth. Secrets stay `Redacted`. */
type Plain<A> =
  A extends Redacted.Redacted<unknown>
    ? A
    : A extends string & Brand.Brand<string>
      ? string
      : A extends object
        ? { readonly [Key in keyof A]: Plain<A[Key]> }
        : A

type Request = Readonly<Record<string, unknown>>
type Read = (request: Request) => Effect.Effect<Request, Schema.SchemaError>
type Send = (request: Request) => Effect.Effect<unknown, unknown>

/** Decodes the input as the service would and passes it to the client, which encodes it again. */
export const wireClient = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  client: HttpApiClient.Client<Groups>
): WireClient<HttpApi.HttpApi<Id, Groups>> => {
  const groups: Record<string, Record<string, Send>> = {}
  HttpApi.reflect(api, {
    onGroup: ({ group }) => {
      groups[group.identifier] = {}
    },
    onEndpoint: ({ endpoint, group, mergedAnnotations }) => {
      const read = reader(endpoint, mergedAnnotations)
      const members = Reflect.get(client as object, group.identifier)
      const send: Send = Reflect.get(members, endpoint.identifier)
      const method = Effect.fnUntraced(function* (request: Request = {}) {
        return yield* send(yield* read(request))
      })
      Object.assign(groups[group.identifier] ?? {}, { [endpoint.identifier]: method })
    }
  })
  return groups as never
}

const reader = (endpoint: HttpApiEndpoint.Top, annotations: Context.Context<never>): Read => {
  const payloads = [...endpoint.payload.values()].flatMap(({ schemas }) => schemas)
  const payload = payloads.length === 0 ? undefined : Schema.Union(payloads)
  const option = <I, S>(key: Context.Key<I, S>) => Context.getOrUndefined(annotations, key)
  const decoders = [
    decoder("params", endpoint.params, option(HttpApi.ParamsParseOptions)),
    decoder("query", endpoint.query, option(HttpApi.QueryParseOptions)),
    decoder("payload", payload, option(HttpApi.PayloadParseOptions))
  ].flat()
  return Effect.fnUntraced(function* (request) {
    const decoded: Record<string, unknown> = { headers: {}, ...request }
    for (const { decode, name } of decoders) decoded[name] = yield* decode(request[name])
    return decoded
  })
}

const decoder = (
  name: "params" | "query" | "payload",
  schema: Schema.Top | undefined,
  options: SchemaAST.ParseOptions | undefined
) => {
  if (schema === undefined) return []
  // Decoding with the contract's schemas needs no services.
  const read = Schema.decodeUnknownEffect(schema as Schema.Codec<unknown, unknown>, options)
  const isText = name !== "payload"
  return [{ name, decode: (given: unknown) => read(toWireValue(given ?? {}, isText)) }]
}

/** Unwraps secrets, converts all path and query values to strings, and drops undefined values. */
const toWireValue = (value: unknown, isText: boolean): unknown => {
  if (Redacted.isRedacted(value)) return Redacted.value(value)
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return value.map((item) => toWireValue(item, isText))
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined)
    return Object.fromEntries(fields.map(([name, field]) => [name, toWireValue(field, isText)]))
  }
  return isText && (typeof value === "number" || typeof value === "boolean") ? String(value) : value
}
