import { Effect } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"

const created = HttpEffect.appendPreResponseHandler((_request, response) =>
  Effect.succeed(HttpServerResponse.setStatus(response, 201))
)

/** Responds with 201 for a new record, and with 200 for an existing one. */
export const upsertResponse = <Record, E, R>(
  upsert: Effect.Effect<{ readonly isNew: boolean; readonly record: Record }, E, R>
) =>
  Effect.flatMap(upsert, ({ isNew, record }) =>
    isNew ? Effect.as(created, record) : Effect.succeed(record)
  )
