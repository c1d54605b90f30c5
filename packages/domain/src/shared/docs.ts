import { OpenApi } from "effect/http-api"

/** What the API reference says about an endpoint. */
export const docs = (summary: string, description: string) =>
  OpenApi.annotations({ summary, description })
