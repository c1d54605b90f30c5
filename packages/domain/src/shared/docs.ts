import { OpenApi } from "effect/http-api"

/** The text about an endpoint in the API reference. */
export const docs = (summary: string, description: string) =>
  OpenApi.annotations({ summary, description })
