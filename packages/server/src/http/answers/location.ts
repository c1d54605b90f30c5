import { CreatedRecordPath } from "@scheduling/domain/shared/CreatedRecordPath"
import { Context, Effect, Option, type SchemaAST } from "effect"
import { HttpEffect, type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"

interface CreatedRecord {
  readonly id: string
}

type Params = Readonly<Record<string, string>>

/**
 * Returns a function that adds the path of the new record as the `Location` header of a 201.
 * Undefined for an endpoint that creates nothing.
 */
export const withLocation = ({
  annotations,
  path,
  success
}: Pick<HttpApiEndpoint.Top, "annotations" | "path" | "success">) => {
  if (![...success].some(({ ast }) => statusOf(ast) === 201)) return undefined
  const declared = Option.getOrUndefined(Context.getOption(annotations, CreatedRecordPath))
  const collection = path.replace(/(?:\/by-key)?\/:\w+(?:\/rotate)?$/, "")
  return <A, E, R>(
    params: Params,
    create: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E, R | HttpServerRequest.HttpServerRequest> =>
    Effect.tap(create, (record) => {
      const location =
        declared === undefined
          ? `${fillPath(collection, params)}/${(record as CreatedRecord).id}`
          : fillPath(declared, params)
      return HttpEffect.appendPreResponseHandler((_request, response) =>
        Effect.succeed(
          response.status === 201
            ? HttpServerResponse.setHeader(response, "location", location)
            : response
        )
      )
    })
}

/**
 * Returns the status in the annotation in which `HttpApiSchema.status` stores it. The framework has
 * no function that reads it.
 */
const statusOf = ({ context }: SchemaAST.AST): unknown => context?.annotations?.["httpApiStatus"]

const fillPath = (path: string, params: Params): string =>
  path.replaceAll(/:(\w+)/g, (_, name: string) => params[name] ?? "")
