import { HttpApiMiddleware } from "effect/http-api"
import {
  InternalError,
  MalformedJson,
  OriginRefused,
  PayloadTooLarge,
  Unavailable,
  UnsupportedMediaType,
  ValidationFailed
} from "./Errors.ts"

/** Wraps every endpoint and converts all failures to the common error format. */
export class ErrorShape extends HttpApiMiddleware.Service<ErrorShape>()(
  "@scheduling/domain/shared/ErrorShape",
  {
    error: [
      OriginRefused,
      MalformedJson,
      PayloadTooLarge,
      UnsupportedMediaType,
      ValidationFailed,
      InternalError,
      Unavailable
    ]
  }
) {}
