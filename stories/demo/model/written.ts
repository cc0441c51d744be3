/**
 * Answers that somebody wrote: for the questions that the app offers, and for those of its first chat. Each has three
 * that differ in what they say, as three people would; whoever tries again hears the next one.
 */
interface Written {
  /** The question, in small letters and without signs at its end. */
  readonly question: string;
  readonly answers: readonly [string, string, string];
}

/** The written answer to a question; undefined for a question that nobody thought of, and when all three were given. */
export function writtenAnswer(question: string, attempt: number): string | undefined {
  const asked = question
    .trim()
    .toLowerCase()
    .replace(/[.?!\s]+$/, '');
  return written.find((one) => one.question === asked)?.answers[attempt];
}

const written: readonly Written[] = [
  {
    question: 'how is a conversation like a tree',
    answers: [
      `Both grow at their ends, and neither grows in one direction only.

A trunk is what everybody agreed on. A branch begins where somebody said “or else”: another answer, a question put differently, a doubt. It does not take anything away from the first branch; it only stands beside it.

Most chats keep a list instead, and a list has room for one “or else” at a time. Change a line in the middle, and everything below is cut off. **A tree keeps both.** You can climb back to the fork, look along each branch, and decide later which one was the trunk.`,
      `Think of the last time you asked something twice.

The second wording was better, so you threw the first away, and with it an answer that had one good sentence. In a tree you would not have had to: the second wording is a **sister** of the first, and both keep what grew from them.

Three things follow:

- nothing is lost when you change your mind,
- trying something costs one branch, not the whole conversation,
- “what did I say before?” is a place you can go to, not a thing to remember.`,
      `Less than people say, and more than they notice.

Less, because nobody plans a conversation from the root up. More, because every question leaves several roads behind that were not taken. In talk they fade. Written down, they can stay: each answer hangs from the question it answers, each new try hangs beside the old one.

What is it good for? Mostly for courage. One asks the odd question, follows it as far as it goes, and comes home in a single step. The road not taken is still there in the morning.`,
    ],
  },
  {
    question: 'plan a walk for a rainy afternoon',
    answers: [
      `Two hours, mostly under something.

1. **Start at the station.** Its roof is the best one in town, and the rain is loudest there.
2. **Follow the arcades** to the market hall. Buy something warm that needs both hands.
3. **Cross the river on the old bridge**, the one open stretch. Look down: rain makes rings, and no two are the same size.
4. **Along the canal under the plane trees**, where it drips long after it has stopped.
5. **End in a library.** Wet coats are welcome there, and it is warm until six.

Take the shoes you like least.`,
      `Make it short, slow and near the water.

Go out when the rain is steady; showers only make you wait. Walk to the nearest pond or river and round it once, against the wind first, so that it pushes you home. Count herons. There is always one, and it is never in a hurry.

Halfway, stand under the largest tree for five minutes without your phone. Then home by a street that you have never taken, however long it is. Soup afterwards is part of the walk.`,
      `Choose a walk by its smells; rain brings them out.

- **Pine wood**, best in the first ten minutes.
- **Warm asphalt**, if it was sunny before: the side streets behind the school.
- **A bakery**, from the back, where the door stands open.
- **Wet iron**, on the footbridge over the tracks.
- **Coffee**, to finish with.

About four kilometres. A hat is better than an umbrella: it leaves your hands free, and you see more sky.`,
    ],
  },
  {
    question: 'a recipe for one pan and half an hour',
    answers: [
      `**Chickpeas with spinach and lemon**, for two.

1. Warm three spoons of olive oil. Soften one sliced onion in it with salt, eight minutes.
2. Add two cloves of garlic, a teaspoon of cumin and half a teaspoon of paprika. One minute.
3. A tin of chickpeas with half of its water, ten minutes, until it thickens.
4. Press some of them flat with a fork: that makes the sauce.
5. Three handfuls of spinach, until it has just fallen together.

Lemon juice, black pepper, and bread to clean the pan with.`,
      `**Eggs in tomatoes**, for two, and the pan goes on the table.

| Minute | What |
| ---: | --- |
| 0 | oil, one onion, one red pepper, both sliced, salt |
| 10 | garlic, cumin, a pinch of chilli |
| 11 | a tin of tomatoes, a spoon of sugar |
| 20 | four hollows, four eggs, a lid |
| 26 | off the heat, feta and parsley over it |

The whites should be set and the yolks not. If you are not sure, it is a minute too early.`,
      `**Gnocchi that are never boiled**, for two.

Fry 400 g of gnocchi from the packet in butter and a little oil until two sides are golden, about eight minutes. Push them aside. In the free half: 200 g of mushrooms in slices, salt only at the end, so that they brown.

Stir, then a splash of water, a spoon of mustard, a spoon of cream. Let it bubble once. Grate cheese over it until you are ashamed, and then a little more.

Twenty minutes, one pan, one fork each.`,
    ],
  },
  {
    question: 'write a function that groups words',
    answers: [
      `\`\`\`ts
function byLength(words: readonly string[]): Map<number, string[]> {
  const groups = new Map<number, string[]>();
  for (const word of words) {
    const group = groups.get(word.length);
    if (group) group.push(word);
    else groups.set(word.length, [word]);
  }
  return groups;
}
\`\`\`

A \`Map\` keeps the lengths as numbers and in the order in which they first came. It walks over the words once. Mind that \`length\` counts UTF-16 units: \`'👩‍👩‍👧'.length\` is 8.`,
      `The language has it built in by now:

\`\`\`ts
const byLength = (words: readonly string[]) => Map.groupBy(words, (word) => word.length);

byLength(['a', 'tree', 'of', 'talk']).get(4); // ['tree', 'talk']
\`\`\`

\`Map.groupBy\` is in every current browser and in Node from version 21 on. For older ones, \`reduce\` does the same in three lines.`,
      `If the groups are to be shown, they should be sorted, and then a list of pairs is handier than a \`Map\`:

\`\`\`ts
function byLength(words: readonly string[]): [number, string[]][] {
  const groups: string[][] = [];
  for (const word of words) (groups[word.length] ??= []).push(word);
  return Object.entries(groups).map(([length, group]) => [Number(length), group]);
}
\`\`\`

The index of a sparse array *is* the length, and \`Object.entries\` leaves the gaps out, in ascending order. Short, but say so in a comment: the next reader will want to mend it.`,
    ],
  },
  {
    question: 'compare tea and coffee in a table',
    answers: [
      `| | Tea | Coffee |
| --- | --- | --- |
| Caffeine in a cup | 30 to 50 mg | 80 to 120 mg |
| Works after | half an hour, gently | ten minutes, all at once |
| Water | 70 to 100 °C, by kind | 92 to 96 °C |
| Second brew | often the better one | no |
| Grows at | 1,000 to 2,000 m | 600 to 2,000 m |

In one line: coffee is a start, tea is a companion.`,
      `| Question | Tea | Coffee |
| --- | --- | --- |
| How long does it take? | 3 minutes of waiting | 3 minutes of work |
| What can go wrong? | forgotten in the pot | ground too fine |
| What does it go with? | rain, letters, biscuits | mornings, newspapers, talk |
| What is left over? | leaves for the roses | grounds for the roses |

Both were forbidden once, for the same reason: people who drank them sat together and talked.`,
      `It depends on who is asking:

| You are | Then |
| --- | --- |
| in a hurry | coffee |
| up late | neither; tea if you must, white or herbal |
| with a guest | ask, and have both |
| on a budget | tea: about 4 cents a cup against 25 |
| a perfectionist | coffee; there is always another dial |
| patient | tea; it does the work itself |`,
    ],
  },
  {
    question: 'suggest a name for my coffee cart',
    answers: [
      '**Round Trip**: out of the house, one coffee, and home again in a better mood.',
      '**The Third Wheel**: a cart has two, and the third is whoever you meet there.',
      '**Ten Past**: the time at which everybody needs one, whatever the hour.',
    ],
  },
  {
    question: 'write a slogan for it',
    answers: [
      '“Worth the detour, and there is none.”',
      '“Good coffee does not need a door.”',
      '“We come to your corner. You come to your senses.”',
    ],
  },
  {
    question: 'how many cups does a kilo of beans make',
    answers: [
      'About 62, at 16 g a cup. For a double it is half as many.',
      'Between 55 and 70: 18 g for a strong cup, 14 g for a mild one. Count on 60, and you will rarely run out.',
      'A kilo has 1,000 g, a cup takes 16 g, and some of it stays in the grinder: say sixty.',
    ],
  },
];
