import { Option, Predicate } from "effect"
import type { Target } from "../contract/Contract.ts"
import type { RequestDraft } from "./RequestDraft.ts"
import type { WireResponse, WireRequest } from "./Wire.ts"

export interface Exchange {
  readonly draft: RequestDraft
  readonly request: WireRequest
  readonly answer: WireResponse
  /** The path's endpoints, by method. Empty if the path is not in the contract. */
  readonly here: ReadonlyMap<string, Target>
}

/** Returns the endpoint that handled the request. HEAD requests are handled by the GET endpoint. */
export const targetOf = ({
  here,
  request
}: Pick<Exchange, "here" | "request">): Target | undefined =>
  here.get(request.method === "HEAD" ? "GET" : request.method)

export const parseJson = Option.liftThrowable((text: string): unknown => JSON.parse(text))

export type Json = Readonly<Record<string, unknown>>

export const objectOrEmpty = (value: unknown): Json =>
  Predicate.isObject(value) ? (value as Json) : {}

export const objectsOrEmpty = (value: unknown): ReadonlyArray<Json> =>
  Array.isArray(value) ? value.map(objectOrEmpty) : []

export const bodyOf = ({ text }: WireResponse): Json =>
  objectOrEmpty(Option.getOrUndefined(parseJson(text)))

export const errorOf = (
  answer: WireResponse
): { readonly error: string; readonly [field: string]: unknown } | undefined => {
  const { detail } = bodyOf(answer)
  return Predicate.hasProperty(detail, "error") && typeof detail.error === "string"
    ? (detail as { readonly error: string })
    : undefined
}
