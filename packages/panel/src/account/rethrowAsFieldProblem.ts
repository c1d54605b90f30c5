import { InvalidCodeError, InvalidCredentialsError } from "@scheduling/sdk"
import { FieldProblem } from "../ui/forms/issues.ts"

/** Rethrows a password or code error as an issue of its form field. */
export const rethrowAsFieldProblem = (error: unknown): never => {
  if (error instanceof InvalidCredentialsError) {
    throw new FieldProblem("current_password", "The password is wrong.")
  }
  if (error instanceof InvalidCodeError) throw new FieldProblem("code", error.reason)
  throw error
}
