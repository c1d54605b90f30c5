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

/** Sits around every endpoint and turns whatever goes wrong inside into the one error shape. */
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
