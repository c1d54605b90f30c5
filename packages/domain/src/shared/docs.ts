import { OpenApi } from "effect/http-api"

/** The summary and description of an endpoint in the API reference. */
export const docs = (summary: string, description: string) =>
  OpenApi.annotations({ summary, description })
