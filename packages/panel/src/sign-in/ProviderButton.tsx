import { useState } from "react"
import { session } from "../data/session.ts"
import { Button } from "../ui/actions/Button.tsx"
import { Problem } from "../ui/messages/Problem.tsx"

/** Takes the user to the identity provider. */
export const ProviderButton = ({
  name,
  next,
  problem: shown
}: {
  readonly name: string
  readonly next: string | undefined
  /** The code of the problem with which the user has returned from the provider. */
  readonly problem: string | undefined
}) => {
  const [isBusy, setIsBusy] = useState(false)
  const [problem, setProblem] = useState(shown)
  const [error, setError] = useState<unknown>(null)
  const start = async () => {
    setIsBusy(true)
    setError(null)
    try {
      const started = await session.signInAtProvider(next)
      if ("url" in started) return location.assign(started.url)
      setProblem(started.problem)
    } catch (failure) {
      setError(failure)
    }
    setIsBusy(false)
  }
  return (
    <div className="flex flex-col gap-3">
      {problem !== undefined && (
        <p role="alert" className="text-sm text-bad">
          {textOfProblem(problem, name)}
        </p>
      )}
      <Problem error={error} />
      <Button busy={isBusy} onClick={() => void start()}>
        Continue with {name}
      </Button>
    </div>
  )
}

const problems: Readonly<Record<string, (provider: string) => string>> = {
  expired: () => "The sign-in took too long or was started in another window. Start again.",
  denied: (provider) => `You cancelled the sign-in, or ${provider} does not let you in.`,
  provider_unavailable: (provider) => `${provider} does not respond. Try again in a moment.`,
  email_unverified: (provider) =>
    `${provider} has not verified your email address. Verify it there, or ask its operator.`,
  domain_not_allowed: () => "Email addresses of your domain may not sign in here.",
  registration_closed: () =>
    "You have no account here, and registration is closed. Ask the operator for an account.",
  linked_otherwise: () =>
    "The account with your email address is linked to another identity. Ask the operator to unlink it.",
  account_disabled: () => "Your account is disabled. Ask the operator.",
  other_address: (provider) =>
    `${provider} works only at the public address of this server. Open the panel there.`,
  too_many: () => "There were too many sign-ins from your network. Try again in 15 minutes."
}

const textOfProblem = (problem: string, provider: string): string =>
  problems[problem]?.(provider) ??
  `The sign-in at ${provider} failed. The operator finds the reason in the log of the server.`
