"""The prompts of the stick-figure data set: 143 short sentences in six groups, nine of them left out of the release.

Source: Dancing Stick Figures, section 3; the prompt list of its repository. A prompt is left out with all its seeds
where the source motions do not visibly perform it.
"""

from functools import cache
from typing import NamedTuple

GROUPS = ("dance", "gesture", "locomotion", "transitions", "idle", "sport")
SEEDS = tuple(range(10))


class Prompt(NamedTuple):
    """A sentence, its group, and why it is not in the release ("" when it is)."""

    text: str
    group: str
    excluded: str = ""

    @property
    def slug(self) -> str:
        """The sentence as a file name."""
        return slug(self.text)


def slug(text: str) -> str:
    """Letters, digits and spaces only, lower case, spaces as underscores, at most 60 characters."""
    kept = "".join(c for c in text if c == " " or (c.isascii() and c.isalnum()))
    return kept.lower().replace(" ", "_")[:60]


@cache
def listed_prompts() -> tuple[Prompt, ...]:
    """All 143 prompts, in the order of the list."""
    return tuple(
        Prompt(f"A person {line.strip()}.", group, _EXCLUDED.get(line.strip(), ""))
        for group, lines in _LINES.items()
        for line in lines.strip().splitlines()
    )


@cache
def released_prompts() -> tuple[Prompt, ...]:
    """The 134 prompts of the release."""
    return tuple(prompt for prompt in listed_prompts() if not prompt.excluded)


def find_prompt(text: str) -> Prompt | None:
    """The listed prompt with this sentence, or None."""
    return next((prompt for prompt in listed_prompts() if prompt.text == text), None)


# Each line stands for "A person <line>."
_LINES = {
    "idle": """
        stands still and breathes
        stands idle, shifting weight from foot to foot
        stands with hands on hips
        stands and looks around
        stands and stretches their arms overhead
        stands and scratches their head
        stands and crosses their arms
        stands and taps their foot
        stands and shrugs
        stands and nods
    """,
    "locomotion": """
        walks forward
        walks forward slowly
        walks briskly
        walks in a circle
        walks backwards
        walks sideways to the left
        walks sideways to the right
        jogs forward
        runs forward
        sprints
        tiptoes forward
        marches in place
        walks with a limp
        walks like a zombie
        walks proudly with a swagger
        walks while looking at their phone
        walks and turns around
        skips forward
        gallops sideways
        shuffles forward
        strolls casually
    """,
    "gesture": """
        waves hello with the right hand
        waves hello with the left hand
        waves goodbye with both hands
        points forward
        points up at the sky
        points to the left
        claps their hands
        gives a thumbs up
        beckons someone to come closer
        bows politely
        bows deeply
        salutes
        shakes their head no
        nods yes
        shrugs with palms up
        covers their face with both hands
        puts a hand on their forehead
        looks at their wristwatch
        stretches out both arms wide
        raises both arms in celebration
        pumps a fist in the air
        crosses their arms and taps a foot
        scratches their chin thoughtfully
        cups a hand to their ear to listen
        blows a kiss
        gives a high five
        applauds enthusiastically
        throws their hands up in frustration
        wipes sweat from their brow
        yawns and stretches
    """,
    "dance": """
        dances energetically, waving arms and stepping side to side
        dances slowly and gracefully
        does the robot dance
        does the twist
        does the floss dance
        does the running man dance
        does the disco point dance
        does the macarena
        does a hip hop dance
        does a ballet pirouette
        does a ballet plie and rises onto their toes
        does the chicken dance
        does the YMCA dance
        does a salsa step
        waltzes with an imaginary partner
        does the sprinkler dance
        does the shopping cart dance
        headbangs to heavy metal
        sways to slow music
        does the worm
        does a body wave
        does the dougie
        does the charleston
        does a tap dance
        does the cabbage patch dance
        does the raise the roof dance
        dances the cha cha
        does the mashed potato dance
        does the swim dance
        does a breakdance freeze
        does the funky chicken
        dances with arms in the air
        does the two step
        does the electric slide
    """,
    "sport": """
        jumps up and down
        jumps up and down with arms raised
        does jumping jacks
        does squats
        does lunges
        does a high kick
        kicks a ball
        throws a ball overhand
        throws a ball underhand
        swings a baseball bat
        swings a golf club
        swings a tennis racket
        shoots a basketball
        dribbles a basketball
        punches the air like a boxer
        shadow boxes
        does a karate chop
        does a roundhouse kick
        jumps rope
        does a standing long jump
        balances on one leg
        does a yoga tree pose
        does a yoga warrior pose
        touches their toes
        does arm circles
        does side bends
        does a burpee
        does a push up
        does a sit up
        swims freestyle in place
        rows a boat
        lifts a heavy box
        lifts weights overhead
    """,
    "transitions": """
        sits down on a chair
        stands up from a chair
        kneels down
        stands up from kneeling
        lies down on the floor
        gets up from the floor
        picks something up from the floor
        turns around 180 degrees
        spins around in place
        stumbles and regains balance
        trips and falls forward
        ducks under something
        steps over an obstacle
        climbs over a low wall
        sits down cross-legged
    """,
}

_EXCLUDED = {
    "shakes their head no": "7 of 10 seeds hardly move, and a plain disc cannot show a head shake",
    "sways to slow music": "all 10 seeds stay below 0.02 m/s",
    "does a standing long jump": "the root slides 1.2 to 2.1 m without leaving the ground",
    "does a yoga tree pose": "the leg never lifts",
    "does a yoga warrior pose": "static, and the pose cannot be recognised",
    "does a push up": "goes down once and does not come up",
    "does a sit up": "the figure stays standing",
    "lies down on the floor": "taken out after looking at it",
    "climbs over a low wall": "no wall is drawn, so the hips rise 0.9 to 1.5 m in mid-air",
}
