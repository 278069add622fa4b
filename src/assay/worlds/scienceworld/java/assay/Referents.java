package assay;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import scala.Tuple2;
import scienceworld.input.InputParser;
import scienceworld.input.InputParser$;
import scienceworld.struct.EnvObject;

/**
 * What the simulator's parser asks again and again while it reads one action, answered once.
 *
 * <p>The parser tries an action against every template, and works out every name of every object in
 * sight each time. The world does not change meanwhile, and each reading has arrays of its own: so
 * names are kept for as long as their array is in use. Answers and their order are the parser's own.
 *
 * <p>Compiled with: javac --release 8 -g:none -cp scienceworld.jar assay/Referents.java
 */
public final class Referents {
  /** A reading has two arrays: what is in sight, and what is there. */
  private static final EnvObject[][] OBJECTS = new EnvObject[2][];

  private static final EnvObject[] PERSPECTIVES = new EnvObject[2];
  private static final String[][][] NAMES = new String[2][][];
  private static int oldest = 0;

  private static final int MOST_TEXTS = 20_000;
  private static final Map<String, String[]> TOKENS = new HashMap<>();

  private Referents() {}

  /** Whether the text begins with the name of an object; and each such object, with the rest. */
  public static synchronized Tuple2<Object, Object> match(
      String text, EnvObject[] objects, EnvObject perspective) {
    String[][] names = names(objects, perspective);
    List<Tuple2<String, EnvObject>> found = new ArrayList<>();
    for (int i = 0; i < objects.length; i++) {
      for (String name : names[i]) {
        if (text.startsWith(name)) {
          found.add(new Tuple2<>(text.substring(name.length()).trim(), objects[i]));
        }
      }
    }
    return new Tuple2<>(!found.isEmpty(), found.toArray(new Tuple2<?, ?>[0]));
  }

  /** No names at all, in the place of those that a step prints when it is done. */
  public static String[] unprinted(
      InputParser$ parser, EnvObject objects, EnvObject perspective) {
    return new String[0];
  }

  private static String[][] names(EnvObject[] objects, EnvObject perspective) {
    for (int i = 0; i < OBJECTS.length; i++) {
      if (OBJECTS[i] == objects && PERSPECTIVES[i] == perspective) {
        return NAMES[i];
      }
    }
    String[][] names = new String[objects.length][];
    for (int i = 0; i < objects.length; i++) {
      names[i] = InputParser.getObjectReferents(objects[i], perspective);
    }
    OBJECTS[oldest] = objects;
    PERSPECTIVES[oldest] = perspective;
    NAMES[oldest] = names;
    oldest = (oldest + 1) % OBJECTS.length;
    return names;
  }

  /** The words of a text, without those that the parser leaves out. */
  public static synchronized String[] tokens(String text) {
    String[] known = TOKENS.get(text);
    if (known == null) {
      List<String> left = Arrays.asList(InputParser.stopWords());
      List<String> words = new ArrayList<>();
      for (String word : text.trim().replaceAll("\\s+", " ").split(" ")) {
        if (!left.contains(word)) {
          words.add(word);
        }
      }
      known = words.toArray(new String[0]);
      if (TOKENS.size() >= MOST_TEXTS) {
        TOKENS.clear();
      }
      TOKENS.put(text, known);
    }
    return known.clone();
  }
}
