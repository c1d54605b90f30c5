import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import { AuthPage, textLinkClass } from "./AuthPage.tsx"
import { InvitationDescription, isInvited, useInvitation } from "./Invitation.tsx"
import { OtherWays } from "./OtherWays.tsx"
import { SignInForm } from "./SignInForm.tsx"
import { signInOptions } from "../data/signInOptions.ts"

export const SignInPage = () => {
  const { next, problem } = useSearch({ from: "/sign-in" })
  const { data: options } = useQuery(signInOptions)
  const navigate = useNavigate()
  const [asksForCode, setAsksForCode] = useState(false)
  const invitation = useInvitation()
  // A new key gives another account an empty form.
  const [times, setTimes] = useState(0)
  return (
    <AuthPage
      title={asksForCode ? "Enter your code" : "Sign in"}
      description={isInvited(next) ? <InvitationDescription invitation={invitation} /> : undefined}
      below={
        asksForCode ? (
          <button
            type="button"
            className={textLinkClass}
            onClick={() => {
              setTimes(times + 1)
              setAsksForCode(false)
            }}
          >
            Sign in with another account
          </button>
        ) : (
          <>
            No account yet?{" "}
            <Link
              to="/register"
              search={next === undefined ? {} : { next }}
              className={textLinkClass}
            >
              Create an account
            </Link>
          </>
        )
      }
    >
      {!asksForCode && (
        <OtherWays
          options={options}
          next={next}
          problem={problem}
          onSignedIn={() => navigate({ href: next ?? "/", replace: true })}
        />
      )}
      <SignInForm
        key={times}
        asksForCode={asksForCode}
        onCode={() => setAsksForCode(true)}
        onSignedIn={() => navigate({ href: next ?? "/", replace: true })}
      />
    </AuthPage>
  )
}
